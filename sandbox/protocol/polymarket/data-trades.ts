import { createHmac } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { DAY_MS } from "../../../src/lib/durations.ts";
import type { ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import type { Catalogue } from "./catalogue.ts";
import {
  parseBooleanParam,
  parseIntegerParam,
  parseJoinedParam,
  parseNumberParam,
  parseTextParam,
  type Query,
  ValidationError,
} from "./query.ts";
import { findNewestTrades, presentTradeV1, presentTradeV2, type TradeRow } from "./trades.ts";

const ROWS_DEFAULT = 100;
const ROWS_V1_MAX = 10_000;
const OFFSET_V1_MAX = 10_000;
const ROWS_V2_MAX = 1_000;
const CONDITIONS_V2_MAX = 20;
/** Maximum age of trades in requests for all markets. */
const ALL_MARKETS_LOOK_BACK_MS = DAY_MS;
const LOOK_BACK_MS = 3 * 365 * DAY_MS;
/** Minimum trade size of `/v2/trades`, in tokens, if the request has no size filter. */
const TRADE_SIZE_TOKENS_MIN = 0.01;

type Predicate = (row: TradeRow) => boolean;

function createSizePredicate(type: string | null, amount: number | null): Predicate {
  if (type === null && amount === null) return () => true;
  if (type !== "CASH" && type !== "TOKENS") throw new ValidationError("filter type must be CASH or TOKENS");
  const min = amount ?? 0;
  return type === "CASH" ? (row) => row.size * row.price >= min : (row) => row.size >= min;
}

function createSidePredicate(side: string | null): Predicate {
  if (side === null) return () => true;
  if (side !== "BUY" && side !== "SELL") throw new ValidationError("side must be BUY or SELL");
  return (row) => row.side === side;
}

/** Finds a market by the 32-byte form of its condition id. Rejects other ids, as the Data API does. */
export function findMarketByDataCondition(catalogue: Catalogue, id: string): ListedMarket | null {
  if (!/^0x[0-9a-f]{64}$/.test(id)) throw new ValidationError(`invalid condition id: ${id}`);
  const market = catalogue.findMarketByCondition(id);
  return market ?? (id.endsWith("00") ? catalogue.findMarketByCondition(id.slice(0, -2)) : null);
}

/** Returns the markets of the given condition or event ids, or null if neither is given. Unknown ids are ignored. */
function findMarketsByIds(
  catalogue: Catalogue,
  conditionIds: readonly string[] | null,
  eventIds: readonly string[] | null,
): readonly ListedMarket[] | null {
  if (conditionIds !== null) return conditionIds.flatMap((id) => findMarketByDataCondition(catalogue, id) ?? []);
  return eventIds === null ? null : eventIds.flatMap((id) => catalogue.findEventById(id)?.markets ?? []);
}

interface Cursor {
  /** Time of the last row returned, Unix milliseconds. */
  readonly until: number;
  /** Number of rows with the time `until` that were already returned. */
  readonly skip: number;
}

/** Signs cursors and rejects the cursors of another endpoint or world. */
class CursorSigner {
  readonly #secret: string;
  readonly #endpoint: string;

  constructor(seed: number, endpoint: string) {
    this.#secret = `cursor:${seed}`;
    this.#endpoint = endpoint;
  }

  encode(cursor: Cursor): string {
    const body = `${cursor.until}.${cursor.skip}`;
    return Buffer.from(`${body}.${this.#sign(body)}`).toString("base64url");
  }

  decode(text: string): Cursor {
    const [until, skip, signature] = Buffer.from(text, "base64url").toString("utf8").split(".");
    const cursor = { until: Number(until), skip: Number(skip) };
    if (signature !== this.#sign(`${until}.${skip}`) || !Number.isSafeInteger(cursor.until))
      throw new ValidationError("invalid cursor");
    return cursor;
  }

  #sign(body: string): string {
    return createHmac("sha256", this.#secret).update(`${this.#endpoint}:${body}`).digest("hex").slice(0, 16);
  }
}

/** Registers `/trades` (offset pages) and `/v2/trades` (cursor pages). */
export function installTrades(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  const { world } = context;
  const selectRows = (
    markets: readonly ListedMarket[] | null,
    until: number,
    count: number,
    withMakers: boolean,
    predicates: readonly Predicate[],
  ) => {
    if (markets !== null && markets.length === 0) return [];
    return findNewestTrades(world, {
      markets: markets ?? catalogue.listMarkets(),
      until,
      count,
      withMakers,
      accepts: (row) => predicates.every((predicate) => predicate(row)),
      lookBackMs: markets === null ? ALL_MARKETS_LOOK_BACK_MS : LOOK_BACK_MS,
    });
  };

  app.get<{ Querystring: Query }>("/trades", async ({ query }) => {
    if (query.user === undefined && (query.start !== undefined || query.end !== undefined)) {
      throw new ValidationError("start and end require user");
    }
    const limit = Math.min(ROWS_V1_MAX, parseIntegerParam(query, "limit") ?? ROWS_DEFAULT);
    const offset = parseIntegerParam(query, "offset") ?? 0;
    if (offset > OFFSET_V1_MAX) throw new ValidationError("max historical activity offset of 10000 exceeded");
    const markets = findMarketsByIds(catalogue, parseJoinedParam(query, "market"), parseJoinedParam(query, "eventId"));
    const predicates = [
      createSizePredicate(parseTextParam(query, "filterType"), parseNumberParam(query, "filterAmount")),
      createSidePredicate(parseTextParam(query, "side")),
    ];
    const user = parseTextParam(query, "user");
    if (user !== null) predicates.push((row) => row.wallet === user.toLowerCase());
    const withMakers = parseBooleanParam(query, "takerOnly") === false;
    return selectRows(markets, context.now(), offset + limit, withMakers, predicates)
      .slice(offset)
      .map(presentTradeV1);
  });

  const cursors = new CursorSigner(world.seed, "/v2/trades");
  app.get<{ Querystring: Query }>("/v2/trades", async ({ query }) => {
    if (query.offset !== undefined) throw new ValidationError("offset is not supported, use cursor");
    const limit = parseIntegerParam(query, "limit") ?? ROWS_DEFAULT;
    if (limit < 1 || limit > ROWS_V2_MAX) throw new ValidationError(`limit must be between 1 and ${ROWS_V2_MAX}`);
    const conditionIds = parseJoinedParam(query, "condition");
    if (conditionIds !== null && conditionIds.length > CONDITIONS_V2_MAX)
      throw new ValidationError(`at most ${CONDITIONS_V2_MAX} conditions`);
    const markets = findMarketsByIds(catalogue, conditionIds, parseJoinedParam(query, "event_id"));
    const sizeType = parseTextParam(query, "filter_type");
    const predicates = [
      sizeType === null
        ? createSizePredicate("TOKENS", TRADE_SIZE_TOKENS_MIN)
        : createSizePredicate(sizeType, parseNumberParam(query, "filter_amount")),
      createSidePredicate(parseTextParam(query, "side")),
    ];
    const cursorText = parseTextParam(query, "cursor");
    const cursor = cursorText === null ? { until: context.now(), skip: 0 } : cursors.decode(cursorText);
    const withMakers = parseBooleanParam(query, "taker_only") === false;
    const rows = selectRows(markets, cursor.until, cursor.skip + limit + 1, withMakers, predicates).slice(cursor.skip);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const hasMore = rows.length > limit && last !== undefined;
    const withLastTime = page.filter((row) => row.at === last?.at).length;
    const skip = last?.at === cursor.until ? cursor.skip + withLastTime : withLastTime;
    return {
      data: page.map(presentTradeV2),
      pagination: { has_more: hasMore, next_cursor: hasMore ? cursors.encode({ until: last.at, skip }) : null },
    };
  });
}
