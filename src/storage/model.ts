import type { BoardMarket } from "../board/index.ts";
import type { VenueId } from "../domain/market.ts";
import type { HistoryPoint, Trade } from "../domain/trade.ts";

/**
 * The right to write what a venue told: the fence of the lease under which it was heard. Writes under a fence that is no
 * longer the lease's are refused by the store, so that two nodes never write the same venue.
 */
export interface VenueFence {
  readonly venue: VenueId;
  readonly fence: number;
}

/** Name of the lease of a venue. */
export const venueLeaseName = (venue: VenueId) => `venue:${venue}`;

/** What a market looked like from one instant on; kept only when something changed. Prices in [0, 1]. */
export interface Tick {
  /** Key of the market as `MarketStore.upsertMarkets` gave it. */
  readonly marketKey: number;
  /** When the venue says it became so, Unix milliseconds; null when it does not say. */
  readonly eventAt: number | null;
  readonly receivedAt: number;
  readonly bid: number | null;
  readonly ask: number | null;
  readonly lastPrice: number | null;
  /** The price a reader sees, by the `yesPrice` rule. */
  readonly yesPrice: number | null;
  /** USD traded since the market opened, as the venue counts it. */
  readonly volumeUsd: number | null;
  /** Left out where no other node can write. */
  readonly fence?: VenueFence;
}

export interface MarketTrade {
  readonly marketKey: number;
  readonly trade: Trade;
}

export type HistoryPeriod = "48h" | "7d" | "30d";

/** Prices of one market on a fixed grid, oldest first. Every point has a `yesPrice`. */
export interface MarketHistory {
  readonly intervalSeconds: number;
  readonly points: readonly HistoryPoint[];
}

/** A market's past over a period, and when it was read (Unix milliseconds). */
export interface HistoryReading extends MarketHistory {
  readonly period: HistoryPeriod;
  readonly generatedAt: number;
}

/** Where past prices come from: the store, and the venue for what the store does not have yet. */
export interface PastPrices {
  /** @throws VenueError when nothing is stored and the venue gives no answer; AppError `store_unavailable` */
  read(market: BoardMarket, period: HistoryPeriod, maxPoints: number): Promise<HistoryReading>;
}

/** A span of time whose history was fetched from the venue, Unix milliseconds. */
export interface CoveredRange {
  readonly intervalMs: number;
  readonly fromMs: number;
  readonly toMs: number;
}

export const MINUTE_MS = 60_000;
export const FIVE_MINUTES_MS = 5 * MINUTE_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Names of our entries in the table `meta`. */
export const META_ROLLED_UP_UNTIL = "ticks_rolled_up_until";
export const META_OBSERVING_SINCE = "ticks_observing_since";
