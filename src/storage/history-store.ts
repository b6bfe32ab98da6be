import type { HistoryPoint } from "../domain/trade.ts";
import type { Database } from "../ports/database.ts";
import type { CoveredRange, HistoryPeriod, MarketHistory } from "./model.ts";
import { priceAt, priceDayAgo, readHistory } from "./read-history.ts";
import { applyRetention, type DeletedRows, type RetentionDays } from "./retention.ts";
import { rollUp } from "./roll-up.ts";
import { coverage, saveVenueHistory } from "./venue-history.ts";

/** Prices over time. Times are Unix milliseconds, prices lie in [0, 1]. */
export interface HistoryStore {
  /** A market's prices over a period ending at `now`, at most `maxPoints` (10 to 200) of them. */
  readHistory(
    marketKey: number,
    options: { readonly period: HistoryPeriod; readonly maxPoints: number; readonly now: number },
  ): Promise<MarketHistory>;
  /** Keeps what the venue itself remembers, and that this span was asked for; our own bars stay as they are. */
  saveVenueHistory(
    marketKey: number,
    intervalMs: number,
    points: readonly HistoryPoint[],
    range: { readonly fromMs: number; readonly toMs: number },
  ): Promise<void>;
  /** The spans fetched from the venue so far, oldest first. */
  coverage(marketKey: number): Promise<CoveredRange[]>;
  /** The last price at or before an instant that a bar tells; null when none does. */
  priceAt(marketKey: number, atMs: number): Promise<number | null>;
  /** Every market's price 24 hours before `now`, where known. */
  priceDayAgo(now: number): Promise<Map<number, number>>;
  /** Turns ticks into bars up to the last closed interval; run it every minute or so. */
  rollUp(now: number): Promise<{ bars5m: number; bars1h: number }>;
  /** Makes the next days' partitions and drops what is too old; run it every hour. */
  applyRetention(now: number, days?: RetentionDays): Promise<DeletedRows>;
}

export function createHistoryStore(database: Database): HistoryStore {
  return {
    readHistory: (marketKey, options) => readHistory(database, marketKey, options),
    saveVenueHistory: (marketKey, intervalMs, points, range) =>
      saveVenueHistory(database, marketKey, intervalMs, points, range),
    coverage: (marketKey) => coverage(database, marketKey),
    priceAt: (marketKey, atMs) => priceAt(database, marketKey, atMs),
    priceDayAgo: (now) => priceDayAgo(database, now),
    rollUp: (now) => rollUp(database, now),
    applyRetention: (now, days) => applyRetention(database, now, days),
  };
}
