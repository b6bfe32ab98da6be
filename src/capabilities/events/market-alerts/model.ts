import type { BoardMarket } from "../../../board/index.ts";
import type { PriceShiftLimits } from "../../../quant/alerts/price-shift.ts";
import type { PricePoint } from "../../../quant/alerts/price-window.ts";
import type { WhaleLimits } from "../../../quant/alerts/whale.ts";
import type { RecentTrade } from "./recent-trades.ts";

/** Limits above which a price shift or a trade causes an alert. */
export interface AlertLimits {
  readonly priceShift: PriceShiftLimits;
  readonly whale: WhaleLimits;
}

export const DEFAULT_ALERT_LIMITS: AlertLimits = {
  priceShift: { minMove: 0.05, minSigmas: 5, sigmaFloor: 0.04, minHours: 24 },
  whale: { minUsd: 5_000, percentile: 99.5, volumeShare: 0.1, shareMinUsd: 1_000 },
};

/** A move of a price that a second observation confirmed. */
export interface ShiftCandidate {
  readonly market: BoardMarket;
  readonly old: PricePoint;
  readonly latest: PricePoint;
}

/** A trade, or one taker's trades on one side of a market within a minute, large enough for one of the rules. */
export interface WhaleCandidate {
  readonly key: string;
  readonly market: BoardMarket;
  /** Oldest first, at least one. */
  readonly trades: readonly RecentTrade[];
  /** When the first trade was executed, Unix milliseconds. */
  readonly startedAt: number;
  /** When the last trade was executed, Unix milliseconds. */
  readonly executedAt: number;
  /** The side that the taker bought; null if unknown. */
  readonly side: "yes" | "no" | null;
  /** Average price of that side per contract, in (0, 1); of YES if the side is unknown. */
  readonly price: number;
  /** Sum of price times size, USD. */
  readonly usd: number;
  /** 24-hour volume before the trades, USD; null if unknown. */
  readonly volume24hUsd: number | null;
}

/** Maximum number of queued candidates; further ones are dropped. */
export const CANDIDATES_MAX = 5_000;
