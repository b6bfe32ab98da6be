import { createHmac } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { userOf } from "./data-wallets.ts";
import {
  booleanParam,
  integerParam,
  listParam,
  numberParam,
  type Query,
  textParam,
  ValidationError,
} from "./gamma-query.ts";
import type { Listing } from "./listing.ts";
import { decimal } from "./market-state.ts";
import { newestRows, type TapeRow, tradeRowV1, tradeRowV2 } from "./tape.ts";

const ROWS_DEFAULT = 100;
const ROWS_V1_MAX = 10_000;
const OFFSET_V1_MAX = 10_000;
const ROWS_V2_MAX = 1_000;
const ACTIVITY_MAX = 500;
const CONDITIONS_V2_MAX = 20;
const DAY_MS = 86_400_000;
/** The tape of all markets together is only looked through for a day. */
const GLOBAL_LOOK_BACK_MS = DAY_MS;
const LOOK_BACK_MS = 3 * 365 * DAY_MS;
/** Rows smaller than this many tokens are left out of the newer tape unless another filter is given. */
const DUST_TOKENS = 0.01;

function sizeFilter(type: string | null, amount: number | null): (row: TapeRow) => boolean {
  if (type === null && amount === null) return () => true;
  if (type !== "CASH" && type !== "TOKENS") throw new ValidationError("filter type must be CASH or TOKENS");
  const least = amount ?? 0;
  return type === "CASH" ? (row) => row.size * row.price >= least : (row) => row.size >= least;
}

function sideFilter(side: string | null): (row: TapeRow) => boolean {
  if (side === null) return () => true;
  if (side !== "BUY" && side !== "SELL") throw new ValidationError("side must be BUY or SELL");
  return (row) => row.side === side;
}

/** The markets that a tape request names, or null for all. Unknown ids name nothing. */
function namedMarkets(
  listing: Listing,
  conditions: readonly string[] | null,
  events: readonly string[] | null,
): readonly ListedMarket[] | null {
  if (conditions !== null) return conditions.flatMap((id) => listing.marketByCondition(id) ?? []);
  return events === null ? null : events.flatMap((id) => listing.eventById(id)?.markets ?? []);
}

/** A cursor is good for the endpoint that gave it: the rows up to an instant, less those of that instant already given. */
interface TapeCursor {
  readonly until: number;
  readonly skip: number;
}

class CursorSeal {
  readonly #secret: string;
  readonly #endpoint: string;

  constructor(seed: number, endpoint: string) {
    this.#secret = `cursor:${seed}`;
    this.#endpoint = endpoint;
  }

  seal(cursor: TapeCursor): string {
    const body = `${cursor.until}.${cursor.skip}`;
    return Buffer.from(`${body}.${this.#sign(body)}`).toString("base64url");
  }

  open(text: string): TapeCursor {
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

/** The public tape, old and new. */
export function installTrades(app: FastifyInstance, context: ExchangeContext, listing: Listing): void {
  const { world } = context;
  const read = (
    markets: readonly ListedMarket[] | null,
    until: number,
    count: number,
    withMakers: boolean,
    tests: readonly ((row: TapeRow) => boolean)[],
  ) => {
    if (markets !== null && markets.length === 0) return [];
    return newestRows(world, {
      markets: markets ?? listing.markets(),
      until,
      count,
      withMakers,
      accepts: (row) => tests.every((test) => test(row)),
      lookBackMs: markets === null ? GLOBAL_LOOK_BACK_MS : LOOK_BACK_MS,
    });
  };

  app.get<{ Querystring: Query }>("/trades", async ({ query }) => {
    if (query.user === undefined && (query.start !== undefined || query.end !== undefined)) {
      throw new ValidationError("start and end require user");
    }
    const limit = Math.min(ROWS_V1_MAX, integerParam(query, "limit") ?? ROWS_DEFAULT);
    const offset = integerParam(query, "offset") ?? 0;
    if (offset > OFFSET_V1_MAX) throw new ValidationError("max historical activity offset of 10000 exceeded");
    const markets = namedMarkets(listing, listParam(query, "market"), listParam(query, "eventId"));
    const tests = [
      sizeFilter(textParam(query, "filterType"), numberParam(query, "filterAmount")),
      sideFilter(textParam(query, "side")),
    ];
    const user = textParam(query, "user");
    if (user !== null) tests.push((row) => row.wallet === user.toLowerCase());
    const rows = read(markets, context.now(), offset + limit, booleanParam(query, "takerOnly") === false, tests);
    return rows.slice(offset).map(tradeRowV1);
  });

  const ofUser = (query: Query, count: number, tests: readonly ((row: TapeRow) => boolean)[]) => {
    const user = userOf(query);
    const markets = namedMarkets(listing, listParam(query, "market"), listParam(query, "eventId"));
    return read(markets, context.now(), count, true, [(row) => row.wallet === user, ...tests]);
  };
  // Nobody splits, merges or redeems here: all that a wallet does is trade.
  app.get<{ Querystring: Query }>("/activity", async ({ query }) => {
    const limit = Math.min(ACTIVITY_MAX, integerParam(query, "limit") ?? ROWS_DEFAULT);
    const offset = integerParam(query, "offset") ?? 0;
    if (offset > OFFSET_V1_MAX) throw new ValidationError("max historical activity offset of 10000 exceeded");
    const start = (numberParam(query, "start") ?? 0) * 1_000;
    const end = (numberParam(query, "end") ?? Number.POSITIVE_INFINITY) * 1_000;
    const types = listParam(query, "type");
    const rows = ofUser(query, offset + limit, [
      sideFilter(textParam(query, "side")),
      (row) => row.at >= start && row.at <= end && (types === null || types.includes("TRADE")),
    ]);
    return rows
      .slice(offset)
      .map((row) => ({ ...tradeRowV1(row), type: "TRADE", usdcSize: Number(decimal(row.size * row.price)) }));
  });
  app.get<{ Querystring: Query }>("/traded", async ({ query }) => {
    const rows = ofUser(query, ROWS_V1_MAX, []);
    return { user: userOf(query), traded: new Set(rows.map((row) => row.market)).size };
  });

  const seal = new CursorSeal(world.seed, "/v2/trades");
  app.get<{ Querystring: Query }>("/v2/trades", async ({ query }) => {
    if (query.offset !== undefined) throw new ValidationError("offset is not supported, use cursor");
    const limit = integerParam(query, "limit") ?? ROWS_DEFAULT;
    if (limit < 1 || limit > ROWS_V2_MAX) throw new ValidationError(`limit must be between 1 and ${ROWS_V2_MAX}`);
    const conditions = listParam(query, "condition");
    if (conditions !== null && conditions.length > CONDITIONS_V2_MAX)
      throw new ValidationError(`at most ${CONDITIONS_V2_MAX} conditions`);
    const markets = namedMarkets(listing, conditions, listParam(query, "event_id"));
    const type = textParam(query, "filter_type");
    const tests = [
      type === null ? sizeFilter("TOKENS", DUST_TOKENS) : sizeFilter(type, numberParam(query, "filter_amount")),
      sideFilter(textParam(query, "side")),
    ];
    const text = textParam(query, "cursor");
    const cursor = text === null ? { until: context.now(), skip: 0 } : seal.open(text);
    const withMakers = booleanParam(query, "taker_only") === false;
    const rows = read(markets, cursor.until, cursor.skip + limit + 1, withMakers, tests).slice(cursor.skip);
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    const hasMore = rows.length > limit && last !== undefined;
    const given = last === undefined ? 0 : shown.filter((row) => row.at === last.at).length;
    const skip = last !== undefined && last.at === cursor.until ? cursor.skip + given : given;
    return {
      data: shown.map(tradeRowV2),
      pagination: { has_more: hasMore, next_cursor: hasMore ? seal.seal({ until: last.at, skip }) : null },
    };
  });
}
