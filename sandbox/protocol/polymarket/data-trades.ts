import type { FastifyInstance } from "fastify";
import type { ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { parseTextParam, type Query } from "../query.ts";
import type { Catalogue } from "./catalogue.ts";
import { createInvalidError, parseIntegerParam } from "./query.ts";
import { findNewestTrades, presentTradeV1, presentTradeV2 } from "./trades.ts";

const ROWS_DEFAULT = 100;
const ROWS_V1_MAX = 10_000;
const ROWS_V2_MAX = 1_000;

/** Finds a market by the 32-byte form of its condition id. Rejects other ids, as the Data API does. */
export function findMarketByDataCondition(catalogue: Catalogue, id: string): ListedMarket | null {
  if (!/^0x[0-9a-f]{64}$/.test(id)) throw createInvalidError(`invalid condition id: ${id}`);
  const market = catalogue.findMarketByCondition(id);
  return market ?? (id.endsWith("00") ? catalogue.findMarketByCondition(id.slice(0, -2)) : null);
}

interface Cursor {
  /** Time of the last row returned, Unix milliseconds. */
  readonly until: number;
  /** Number of rows with the time `until` that were already returned. */
  readonly skip: number;
}

const encodeCursor = ({ until, skip }: Cursor) => Buffer.from(`${until}.${skip}`).toString("base64url");

function decodeCursor(text: string): Cursor {
  const [, until, skip] = /^(\d{1,15})\.(\d{1,9})$/.exec(Buffer.from(text, "base64url").toString("utf8")) ?? [];
  if (until === undefined || skip === undefined) throw createInvalidError("invalid cursor");
  return { until: Number(until), skip: Number(skip) };
}

/** Registers `/trades` (newest rows) and `/v2/trades` (cursor pages). Both return the takers' rows, newest first. */
export function installTrades(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  const { world } = context;
  const selectRows = (conditionId: string | null, until: number, count: number) => {
    if (conditionId === null) throw createInvalidError("a condition id is required");
    const market = findMarketByDataCondition(catalogue, conditionId);
    return market === null ? [] : findNewestTrades(world, market, until, count);
  };

  app.get<{ Querystring: Query }>("/trades", async ({ query }) => {
    const limit = Math.min(ROWS_V1_MAX, parseIntegerParam(query, "limit") ?? ROWS_DEFAULT);
    return selectRows(parseTextParam(query, "market"), context.now(), limit).map(presentTradeV1);
  });

  app.get<{ Querystring: Query }>("/v2/trades", async ({ query }) => {
    if (query.offset !== undefined) throw createInvalidError("offset is not supported, use cursor");
    const limit = parseIntegerParam(query, "limit") ?? ROWS_DEFAULT;
    if (limit < 1 || limit > ROWS_V2_MAX) throw createInvalidError(`limit must be between 1 and ${ROWS_V2_MAX}`);
    const cursorText = parseTextParam(query, "cursor");
    const cursor = cursorText === null ? { until: context.now(), skip: 0 } : decodeCursor(cursorText);
    const rows = selectRows(parseTextParam(query, "condition"), cursor.until, cursor.skip + limit + 1);
    const page = rows.slice(cursor.skip, cursor.skip + limit);
    const last = page.at(-1);
    const hasMore = rows.length > cursor.skip + limit && last !== undefined;
    const withLastTime = page.filter((row) => row.at === last?.at).length;
    const skip = last?.at === cursor.until ? cursor.skip + withLastTime : withLastTime;
    return {
      data: page.map(presentTradeV2),
      pagination: { has_more: hasMore, next_cursor: hasMore ? encodeCursor({ until: last.at, skip }) : null },
    };
  });
}
