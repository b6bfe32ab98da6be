import type { FastifyInstance } from "fastify";
import type { ExchangeContext } from "../exchange.ts";
import type { Catalogue } from "./catalogue.ts";
import { integerParam, listParam, type Query, textParam, ValidationError } from "./query.ts";
import { newestTrades, tradeRowV1, tradeRowV2 } from "./trades.ts";

const ROWS_DEFAULT = 100;
const ROWS_V1_MAX = 10_000;
const ROWS_V2_MAX = 1_000;
const CONDITIONS_V2_MAX = 20;
/** `/v2/trades` omits trades of fewer tokens. */
const DUST_TOKENS = 0.01;

interface Cursor {
  /** Time of the last row returned, Unix milliseconds. */
  readonly until: number;
  /** Number of rows with that time which were already returned. */
  readonly skip: number;
}

const encodeCursor = ({ until, skip }: Cursor) => Buffer.from(`${until}.${skip}`).toString("base64url");

function decodeCursor(text: string): Cursor {
  const [, until, skip] = /^(\d{1,15})\.(\d{1,9})$/.exec(Buffer.from(text, "base64url").toString("utf8")) ?? [];
  if (until === undefined) throw new ValidationError("invalid cursor");
  return { until: Number(until), skip: Number(skip) };
}

/** Registers `/trades` and `/v2/trades`: trades of the given condition ids as seen by the taker; unknown ids are ignored. */
export function installTrades(app: FastifyInstance, { world, now }: ExchangeContext, catalogue: Catalogue): void {
  const marketsOf = (query: Query, name: string, idsMax = Number.POSITIVE_INFINITY) => {
    const conditionIds = listParam(query, name);
    if (conditionIds === null) throw new ValidationError(`${name} is required`);
    if (conditionIds.length > idsMax) throw new ValidationError(`at most ${idsMax} conditions`);
    return conditionIds.flatMap((id) => catalogue.marketByCondition(id) ?? []);
  };

  app.get<{ Querystring: Query }>("/trades", async ({ query }) => {
    const count = Math.min(ROWS_V1_MAX, integerParam(query, "limit") ?? ROWS_DEFAULT);
    return newestTrades(world, { markets: marketsOf(query, "market"), until: now(), count }).map(tradeRowV1);
  });

  app.get<{ Querystring: Query }>("/v2/trades", async ({ query }) => {
    const limit = integerParam(query, "limit") ?? ROWS_DEFAULT;
    if (limit < 1 || limit > ROWS_V2_MAX) throw new ValidationError(`limit must be between 1 and ${ROWS_V2_MAX}`);
    const markets = marketsOf(query, "condition", CONDITIONS_V2_MAX);
    const cursorText = textParam(query, "cursor");
    const cursor = cursorText === null ? { until: now(), skip: 0 } : decodeCursor(cursorText);
    const count = cursor.skip + limit + 1;
    const rows = newestTrades(world, { markets, until: cursor.until, count, sizeMin: DUST_TOKENS }).slice(cursor.skip);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const hasMore = rows.length > limit && last !== undefined;
    const withLastTime = page.filter((row) => row.at === last?.at).length;
    const skip = last?.at === cursor.until ? cursor.skip + withLastTime : withLastTime;
    return {
      data: page.map(tradeRowV2),
      pagination: { has_more: hasMore, next_cursor: hasMore ? encodeCursor({ until: last.at, skip }) : null },
    };
  });
}
