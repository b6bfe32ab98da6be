import type { MarketListing } from "../../domain/market.ts";
import type { Trade } from "../../domain/trade.ts";
import { createBadBodyError, FEED_ROWS_MIN, type LimitlessContext, TRADE_ROWS_MAX } from "./client.ts";
import { isAmm, slugOf } from "./ids.ts";
import { parseFeed, parseTrades, type TradePage } from "./parse-trades.ts";
import { isTradePage } from "./wire.ts";

const PAGES_MAX = 20;

/** Returns trades at or after `sinceMs`, newest first, at most `limit`. */
export function listTrades(
  context: LimitlessContext,
  listing: MarketListing,
  sinceMs: number,
  limit: number,
  signal: AbortSignal,
): Promise<readonly Trade[]> {
  const { client } = context;
  if (isAmm(listing)) {
    const fetchFeedPage = async (page: number) => {
      const response = await client.listFeed(listing.marketId, page, signal);
      return response === null ? null : parseFeed(response.json, sinceMs, context);
    };
    return collectTrades(fetchFeedPage, FEED_ROWS_MIN, limit);
  }
  const fetchTradePage = async (page: number) => {
    const response = await client.listTrades(slugOf(listing), page, signal);
    if (response === null) return null;
    if (!isTradePage(response.json)) throw createBadBodyError("a page of trades");
    return parseTrades(response.json.events, listing.venueKeys.noToken ?? null, sinceMs, context);
  };
  return collectTrades(fetchTradePage, TRADE_ROWS_MAX, limit);
}

/** Reads pages until one has older rows, `limit` trades or the last page. Rows repeated on a later page count once. */
async function collectTrades(
  fetchPage: (page: number) => Promise<TradePage | null>,
  rowsPerPage: number,
  limit: number,
): Promise<readonly Trade[]> {
  const tradesById = new Map<string, Trade>();
  for (let page = 1; page <= PAGES_MAX; page++) {
    const response = await fetchPage(page);
    if (response === null) break;
    for (const trade of response.trades) tradesById.set(trade.tradeId, trade);
    if (response.rowCount < rowsPerPage || response.hasOlder || tradesById.size >= limit) break;
  }
  return [...tradesById.values()].sort((a, b) => b.executedAt - a.executedAt).slice(0, limit);
}
