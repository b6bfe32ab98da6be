import type { VenueId } from "../../../domain/market.ts";
import type { MarketRef } from "../../../domain/market-name.ts";
import { toCents } from "../../../domain/usd.ts";

/** Minimum price change in 24 hours for the trends `rising` and `falling`. */
export const TREND_MOVE_MIN = 0.02;
/** Minimum ratio of the last hour's volume to the mean hourly volume of the last 24 hours for a volume spike. */
export const SPIKE_RATIO_MIN = 3;
/** Minimum volume of the last hour for a volume spike, in USD. */
export const SPIKE_USD_MIN = 100;
/** Minimum scores for the actions `analyze` and `watch`. */
export const ANALYZE_SCORE_MIN = 0.6;
export const WATCH_SCORE_MIN = 0.4;

export const SCREEN_TRENDS = ["rising", "falling", "stable"] as const;
export const SCREEN_ACTIONS = ["analyze", "watch", "skip"] as const;
export type ScreenTrend = (typeof SCREEN_TRENDS)[number];
export type ScreenAction = (typeof SCREEN_ACTIONS)[number];

/** Thresholds of a screen. Null selects every market. A market whose figure is unknown fails a threshold. */
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
  readonly markets: readonly MarketRef[] | null;
  readonly venues: readonly VenueId[];
  readonly category: string | null;
  readonly text: string | null;
  readonly limit: number;
}

export function priceTrendOf(priceChange24h: number | null): ScreenTrend | null {
  if (priceChange24h === null) return null;
  if (Math.abs(priceChange24h) < TREND_MOVE_MIN) return "stable";
  return priceChange24h > 0 ? "rising" : "falling";
}

/** Whether the last hour's volume is a spike compared with the last 24 hours; null if a volume is unknown. */
export function isVolumeSpike(lastHourUsd: number | null, last24hUsd: number | null): boolean | null {
  if (lastHourUsd === null || last24hUsd === null) return null;
  return toCents(lastHourUsd) >= Math.max(SPIKE_USD_MIN, (SPIKE_RATIO_MIN * last24hUsd) / 24);
}

export function screenActionOf(score: number): ScreenAction {
  if (score >= ANALYZE_SCORE_MIN) return "analyze";
  return score >= WATCH_SCORE_MIN ? "watch" : "skip";
}
