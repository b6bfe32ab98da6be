import type { BoardMarket } from "../board/index.ts";
import type { VenueId } from "../domain/market.ts";
import type { HistoryPoint, Trade } from "../domain/trade.ts";
import { MINUTE_MS } from "../lib/durations.ts";
import type { HistoryRange } from "../ports/venue.ts";

/**
 * Fencing token of a venue lease. The store rejects writes whose fence no longer matches the lease, so at most one node
 * writes data of a venue.
 */
export interface VenueFence {
  readonly venue: VenueId;
  readonly fence: number;
}

export const venueLeaseName = (venue: VenueId) => `venue:${venue}`;

/** The prices of a market from a timestamp until the next tick. Prices are in [0, 1]. */
export interface Tick {
  /** Key of the market, as returned by `MarketStore.upsertMarkets`. */
  readonly marketKey: number;
  /** Venue time of the change, Unix milliseconds; null if the venue does not report it. */
  readonly eventAt: number | null;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  readonly bid: number | null;
  readonly ask: number | null;
  readonly lastPrice: number | null;
  /** Displayed price, computed by `yesPrice`. */
  readonly yesPrice: number | null;
  /** USD traded since the market opened, as reported by the venue. */
  readonly volumeUsd: number | null;
  /** Fence of the venue's lease; undefined if this process is the only writer. */
  readonly fence?: VenueFence;
}

export interface MarketTrade {
  readonly marketKey: number;
  readonly trade: Trade;
}

export type HistoryPeriod = "48h" | "7d" | "30d";

/**
 * A point of a price history. `yesPrice` is the close: the last price at or before `endAt`. `open` is the first price
 * observed in (startAt, endAt], or the previous close if none was observed; `high` and `low` are the extremes of open,
 * close and all prices observed.
 */
export interface Candle extends HistoryPoint {
  readonly yesPrice: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
}

/** Prices of one market on a fixed grid, oldest first. */
export interface MarketHistory {
  readonly intervalSeconds: number;
  readonly points: readonly Candle[];
}

export interface PriceHistory extends MarketHistory {
  /** Null if the history was read by range. */
  readonly period: HistoryPeriod | null;
  /** Unix milliseconds. */
  readonly generatedAt: number;
}

/** Reads price history from the store and fetches missing history from the venue. */
export interface PastPrices {
  /** @throws VenueError if no history is stored and the venue request fails; AppError `store_unavailable` */
  read(market: BoardMarket, period: HistoryPeriod, maxPoints: number): Promise<PriceHistory>;
  /**
   * Like `read`, for the intervals of a range whose bounds are multiples of `intervalMs`. Intervals of a minute are made
   * from ticks; where there are none, they repeat five-minute prices.
   */
  readRange(market: BoardMarket, range: HistoryRange): Promise<PriceHistory>;
}

/** Fetches history that the store lacks. */
export interface HistoryFetcher {
  /**
   * Fetches and stores the history of up to 50 of the given markets, those whose history was never fetched. Intervals
   * below `intervalMsMin` are not fetched, because five-minute history needs up to four more requests per market than
   * hourly history, which needs one. Ends after at most `timeoutMs`, and ignores failures of venues.
   */
  fetchMissing(
    markets: readonly BoardMarket[],
    options: { readonly intervalMsMin: number; readonly timeoutMs: number },
  ): Promise<void>;
}

export const FIVE_MINUTES_MS = 5 * MINUTE_MS;

/** Key in the table `meta`. */
export const OBSERVING_SINCE_META_KEY = "ticks_observing_since";
