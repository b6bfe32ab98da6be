import type { BoardMarket } from "../../board/index.ts";
import type { PriceShiftLimits } from "../../quant/alerts/price-shift.ts";
import type { PricePoint } from "../../quant/alerts/price-window.ts";
import type { WhaleLimits } from "../../quant/alerts/whale.ts";

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

/** A trade that is large enough for one of the rules. */
export interface WhaleCandidate {
  readonly market: BoardMarket;
  readonly tradeId: string;
  /** Unix milliseconds. */
  readonly executedAt: number;
  /** The side that the taker bought; null if unknown. */
  readonly side: "yes" | "no" | null;
  /** Price of that side; of YES if the side is unknown. */
  readonly price: number;
  readonly usd: number;
}

/** Maximum number of queued candidates; further ones are dropped. */
export const CANDIDATES_MAX = 5_000;
