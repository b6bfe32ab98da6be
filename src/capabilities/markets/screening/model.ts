import type { VenueId } from "../../../domain/market.ts";
import { toCents } from "../../../domain/usd.ts";

/** A price that moved by at least this much in 24 hours rises or falls. */
export const TREND_MOVE_MIN = 0.02;
/** A volume spike trades in an hour at least this many times the mean hourly volume of the last 24 hours. */
export const SPIKE_RATIO_MIN = 3;
/** USD of the last hour below which no volume is a spike. */
export const SPIKE_USD_MIN = 100;
/** Scores from which `action` is `analyze` and `watch`. */
export const ANALYZE_SCORE_MIN = 0.6;
export const WATCH_SCORE_MIN = 0.4;

export const TRENDS = ["rising", "falling", "stable"] as const;
export const ACTIONS = ["analyze", "watch", "skip"] as const;
export type Trend = (typeof TRENDS)[number];
export type Action = (typeof ACTIONS)[number];

/**
 * What a screen selects. A threshold of null selects everything; a market whose figure is unknown fails a threshold.
 */
export interface ScreenThresholds {
  /** USD. */
  readonly minVolume24h: number | null;
  /** USD. */
  readonly minLiquidity: number | null;
  /** Price units. */
  readonly maxSpread: number | null;
  readonly minHoursToResolution: number | null;
  readonly maxHoursToResolution: number | null;
  /** In [0, 1]. */
  readonly minScore: number | null;
}

export interface ScreenRequest extends ScreenThresholds {
  /** The markets to screen; null screens the whole board. */
  readonly markets: readonly { readonly venue: VenueId; readonly marketId: string }[] | null;
  readonly venues: readonly VenueId[];
  readonly category: string | null;
  readonly text: string | null;
  readonly limit: number;
}

export function trendOf(priceChange24h: number | null): Trend | null {
  if (priceChange24h === null) return null;
  if (Math.abs(priceChange24h) < TREND_MOVE_MIN) return "stable";
  return priceChange24h > 0 ? "rising" : "falling";
}

/** Whether the last hour's volume is far above the mean hour of the last day; null if either volume is unknown. */
export function isVolumeSpike(lastHourUsd: number | null, last24hUsd: number | null): boolean | null {
  if (lastHourUsd === null || last24hUsd === null) return null;
  return toCents(lastHourUsd) >= Math.max(SPIKE_USD_MIN, (SPIKE_RATIO_MIN * last24hUsd) / 24);
}

export function actionOf(score: number): Action {
  if (score >= ANALYZE_SCORE_MIN) return "analyze";
  return score >= WATCH_SCORE_MIN ? "watch" : "skip";
}
