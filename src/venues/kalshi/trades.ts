import type { Trade } from "../../domain/trade.ts";
import type { VenueAdapter } from "../../ports/venue.ts";
import { expectShape, type KalshiContext, listPages } from "./client.ts";
import { parseTrade } from "./parse-trades.ts";
import { parseTime } from "./parse-values.ts";
import { isCutoff, isTrade, isTradesPage } from "./wire.ts";

const TRADES_PER_PAGE = 1_000;
const PAGES_MAX = 50;
/** Time for which the cutoff between the live and the historical tier is cached. Kalshi changes it by hours. */
const CUTOFF_CACHE_MS = 10 * 60_000;

/**
 * Returns a function that reads the trades of a market at or after `sinceMs` from the live and the historical tier,
 * newest first, at most `limit`.
 */
export function createTradeReader(context: KalshiContext): VenueAdapter["listTrades"] {
  const { client, clock, driftDetectors, countDrop } = context;
  let cutoff: { readonly tradesAt: number; readonly readAt: number } | null = null;

  /** Returns the time (Unix milliseconds) before which trades are only in the historical tier. */
  const readCutoff = async (signal: AbortSignal): Promise<number> => {
    const now = clock.now();
    if (cutoff === null || now - cutoff.readAt > CUTOFF_CACHE_MS) {
      const path = "/historical/cutoff";
      const { json } = await client.fetchJson(path, { signal });
      const tradesAt = parseTime(expectShape(json, isCutoff, path).trades_created_ts);
      cutoff = { tradesAt: tradesAt ?? Number.NEGATIVE_INFINITY, readAt: now };
    }
    return cutoff.tradesAt;
  };

  return async ({ marketId: ticker }, sinceMs, limit, signal) => {
    // The venue filters by whole seconds.
    const query = { ticker, limit: Math.min(TRADES_PER_PAGE, limit), min_ts: Math.max(0, Math.floor(sinceMs / 1_000)) };
    const pagesMax = Math.min(PAGES_MAX, Math.ceil(limit / query.limit) + 1);
    const trades = new Map<string, Trade>();
    /** Adds the trades of one tier, newest first, until there are `limit` trades. */
    const readTier = async (path: string): Promise<void> => {
      const request = { path, query, isEnvelope: isTradesPage, idField: "trade_id", pagesMax };
      const pages = listPages(context, { ...request, rowsOf: (page) => page.trades }, signal);
      for await (const { rows } of pages) {
        for (const row of driftDetectors.trade.filter(rows, isTrade, () => countDrop("bad_trade"))) {
          const trade = parseTrade(row, countDrop);
          if (trade !== null && trade.executedAt >= sinceMs) trades.set(trade.tradeId, trade);
        }
        if (trades.size >= limit) return;
      }
    };
    await readTier("/markets/trades");
    // Reading the cutoff needs a request, so it is read only if the live tier may not have all trades.
    if (trades.size < limit && sinceMs < (await readCutoff(signal))) await readTier("/historical/trades");
    return [...trades.values()].sort((a, b) => b.executedAt - a.executedAt).slice(0, limit);
  };
}
