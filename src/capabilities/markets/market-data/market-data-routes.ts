import type { FastifyInstance } from "fastify";
import { InvalidRequestError } from "../../../domain/errors.ts";
import { createCursorError, decodeCursor, encodeCursor, nextPageLink } from "../../../http/pagination.ts";
import { defineRoute } from "../../../http/route.ts";
import { valueError } from "../../../http/validation/index.ts";
import { DEPTH_DEFAULT, type HistoryQuery, TRADES_LIMIT_DEFAULT } from "./market-data-schema.ts";
import { presentHistory, presentOrderBook, presentTrade } from "./present-market-data.ts";
import { COMMON_OPTIONS, type RouteContext } from "./route-context.ts";
import { CANDLE_INTERVALS_MS, parseTime } from "./time-range.ts";

const HISTORY_POINTS_DEFAULT = 48;
const RANGE_POINTS_MAX = 2_000;

export function marketDataRoutes(app: FastifyInstance, { service, schemas, publicUrl, now }: RouteContext): void {
  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/v1/markets/:platform/:market_id/history",
    summary: "Retrieve the price and volume history of a market",
    description:
      "Returns one point per interval, aligned to UTC: for a `period` that ends now, or from `from` to `to` with an `interval`, at most 2,000 points. Intervals without a trade or quote repeat the previous price. Intervals before the first known price are omitted. One-minute points are made from the recorded quotes. Where only the price at the end of an interval is known, such as in history that was read from the venue, `open`, `high` and `low` are made from these prices.",
    operationId: "get_market_history",
    params: schemas.marketPath,
    query: schemas.historyQuery,
    responses: { 200: schemas.History },
    errors: ["market_not_found", "venue_unavailable", "store_unavailable"],
    async handler({ params, query }) {
      const range = toRange(query, now());
      const market = await service.getListedMarket(params.platform, params.market_id);
      const reading =
        range === null
          ? await service.getHistory(market, query.period ?? "7d", query.max_points ?? HISTORY_POINTS_DEFAULT)
          : await service.getHistoryRange(market, range);
      return presentHistory(market, reading);
    },
  });
  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/v1/markets/:platform/:market_id/orderbook",
    summary: "Retrieve the order book of a market",
    description:
      "Returns the open orders of the YES side, best first. An order to buy NO at a price of q is an order to sell YES at 1 - q. The book is tracked by the venue's stream or read from the venue at most once every 2 seconds. Some streams send whole books: if a message was lost, the book is up to 15 seconds old, and `updated_at` says when it was received. A market without orders, a settled market and an automated market maker (`amm`) have empty sides.",
    operationId: "get_market_orderbook",
    params: schemas.marketPath,
    query: schemas.orderBookQuery,
    responses: { 200: schemas.OrderBook },
    errors: ["market_not_found", "venue_unavailable"],
    async handler({ params, query }) {
      const market = await service.getListedMarket(params.platform, params.market_id);
      return presentOrderBook(market, await service.readOrderBook(market), query.depth ?? DEPTH_DEFAULT);
    },
  });
  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/v1/markets/:platform/:market_id/trades",
    summary: "List the trades of a market",
    description:
      "Returns trades, newest first. The `Link` header contains the URL of the next page. The newest 10,000 trades are read from the venue, at most once every 2 seconds; older trades, and all trades while the venue does not respond, are those that this service has recorded.",
    operationId: "list_market_trades",
    params: schemas.marketPath,
    query: schemas.tradesQuery,
    responses: { 200: schemas.TradeList },
    errors: ["market_not_found", "venue_unavailable", "store_unavailable"],
    async handler({ params, query, request, reply }) {
      const listing = { platform: params.platform, market_id: params.market_id };
      const after = query.cursor === undefined ? null : toTradePosition(query.cursor, listing);
      const market = await service.getListedMarket(params.platform, params.market_id);
      const { trades, next } = await service.listTrades(market, after, query.limit ?? TRADES_LIMIT_DEFAULT);
      if (next !== null) {
        const cursor = encodeCursor({ value: next.executedAt, id: next.tradeId }, listing);
        reply.header("link", nextPageLink(request.url, cursor, publicUrl));
      }
      return trades.map(presentTrade);
    },
  });
}

/** Maximum time of a `Date`, Unix milliseconds. */
const TIME_MS_MAX = 8.64e15;

/**
 * Returns the position in a cursor. A client can forge the checksum of a cursor, so values that the store cannot
 * compare are rejected.
 *
 * @throws InvalidRequestError if the cursor does not belong to the listing
 */
function toTradePosition(cursor: string, listing: Readonly<Record<string, string>>) {
  const { value, id } = decodeCursor(cursor, listing);
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > TIME_MS_MAX || id.includes("\0"))
    throw createCursorError(cursor);
  return { executedAt: value, tradeId: id };
}

/**
 * Returns the requested range, or null for a request by period.
 *
 * @throws InvalidRequestError if range and period parameters are mixed, a parameter is missing, or the range is too
 *   long
 */
function toRange(query: HistoryQuery, now: number) {
  const { from, to, interval, period, max_points } = query;
  if (from === undefined && to === undefined && interval === undefined) return null;
  const fail = (name: keyof HistoryQuery, message: string): never => {
    throw new InvalidRequestError([valueError(["query", name], message, query[name] ?? null)]);
  };
  if (period !== undefined) fail("period", "period cannot be combined with from, to and interval");
  if (max_points !== undefined) fail("max_points", "max_points cannot be combined with from, to and interval");
  if (interval === undefined) return fail("interval", "interval is required with from and to");
  if (from === undefined) return fail("from", "from is required with interval");
  const intervalMs = CANDLE_INTERVALS_MS[interval];
  const fromMs = parseTime(from) ?? fail("from", "from must be an ISO 8601 time such as 2026-11-20T00:00:00Z");
  const toMs =
    to === undefined ? now : (parseTime(to) ?? fail("to", "to must be an ISO 8601 time such as 2026-11-20T00:00:00Z"));
  if (fromMs >= toMs) fail("from", "from must be before to, which is now by default");
  const range = {
    fromMs: Math.floor(fromMs / intervalMs) * intervalMs,
    toMs: Math.ceil(toMs / intervalMs) * intervalMs,
    intervalMs,
  };
  if ((range.toMs - range.fromMs) / intervalMs > RANGE_POINTS_MAX)
    fail("interval", `the range has more than ${RANGE_POINTS_MAX} intervals; use a longer interval or a shorter range`);
  // Intervals after the current one do not exist yet.
  return { ...range, toMs: Math.min(range.toMs, Math.ceil(now / intervalMs) * intervalMs) };
}
