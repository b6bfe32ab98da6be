import type { PriceShiftLimits } from "../../../quant/alerts/price-shift.ts";
import type { WhaleLimits } from "../../../quant/alerts/whale.ts";

/** Limits above which a price shift or a trade causes an alert. */
export interface AlertLimits {
  readonly priceShift: PriceShiftLimits;
  readonly whale: WhaleLimits;
}

export const DEFAULT_ALERT_LIMITS: AlertLimits = {
  priceShift: { minMove: 0.05, minSigmas: 5, sigmaFloor: 0.04, minHours: 24 },
  whale: { minUsd: 5_000, percentile: 99.5, volumeShare: 0.1, shareMinUsd: 1_000 },
};

/** Maximum number of queued candidates; further candidates are dropped. */
export const CANDIDATES_MAX = 5_000;
