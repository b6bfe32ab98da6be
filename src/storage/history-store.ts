import type { HistoryPoint } from "../domain/trade.ts";
import type { Database } from "../ports/database.ts";
import type { CoveredRange, HistoryPeriod, MarketHistory } from "./model.ts";
import { priceDayAgo, readHistory } from "./read-history.ts";
import { applyRetention, type DeletedRows, type RetentionDays } from "./retention.ts";
import { rollUp } from "./roll-up.ts";
import { coverage, saveVenueHistory } from "./venue-history.ts";

/** Price history. Times are Unix milliseconds; prices are in [0, 1]. */
export interface HistoryStore {
  /** Prices of a market over the period that ends at `now`, with at most `maxPoints` (10 to 200) points. */
  readHistory(
    marketKey: number,
    options: { readonly period: HistoryPeriod; readonly maxPoints: number; readonly now: number },
  ): Promise<MarketHistory>;
  /** Stores history fetched from the venue and records the range as fetched. Prices of our own bars are not changed. */
  saveVenueHistory(
    marketKey: number,
    intervalMs: number,
    points: readonly HistoryPoint[],
    range: { readonly fromMs: number; readonly toMs: number },
  ): Promise<void>;
  /** The ranges fetched from the venue, oldest first. */
  coverage(marketKey: number): Promise<CoveredRange[]>;
  /** Prices 24 hours before `now` by market key; markets without a known price are omitted. */
  priceDayAgo(now: number): Promise<Map<number, number>>;
  /** Makes bars from ticks up to the last closed interval. Run it about once a minute. */
  rollUp(now: number): Promise<{ bars5m: number; bars1h: number }>;
  /** Creates the tick partitions of the next days and deletes expired data. Run it every hour. */
  applyRetention(now: number, days?: RetentionDays): Promise<DeletedRows>;
}

export function createHistoryStore(database: Database): HistoryStore {
  return {
    readHistory: (marketKey, options) => readHistory(database, marketKey, options),
    saveVenueHistory: (marketKey, intervalMs, points, range) =>
      saveVenueHistory(database, marketKey, intervalMs, points, range),
    coverage: (marketKey) => coverage(database, marketKey),
    priceDayAgo: (now) => priceDayAgo(database, now),
    rollUp: (now) => rollUp(database, now),
    applyRetention: (now, days) => applyRetention(database, now, days),
  };
}
