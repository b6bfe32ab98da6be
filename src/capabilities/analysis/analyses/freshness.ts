import { STALE_ANALYSIS_MS_MAX } from "../../../domain/estimate-age.ts";
import { FRESH_MS_MAX, type Freshness } from "./model.ts";

/** Prices are multiples of 1e-6, so a smaller excess is a rounding error. */
const PRICE_TOLERANCE = 1e-7;

interface AnalysisPrice {
  /** Unix milliseconds. */
  readonly analysedAt: number;
  readonly interval: { readonly low: number; readonly high: number };
  /** Price at the time of the analysis. */
  readonly marketPrice: number;
}

/** When the analysis expires by age, Unix milliseconds. */
export const expiryByAge = ({ analysedAt }: Pick<AnalysisPrice, "analysedAt">): number =>
  analysedAt + STALE_ANALYSIS_MS_MAX;

/**
 * `fresh` below 24 hours, `stale` up to 72 hours, then `expired`. It expires earlier if the price has left the
 * interval. If the price was outside the interval at the analysis, prices between that price and the interval do not
 * expire it.
 *
 * @param price  the current price; null if unknown
 */
export function freshnessOf(
  { analysedAt, interval, marketPrice }: AnalysisPrice,
  price: number | null,
  now: number,
): Freshness {
  const low = Math.min(interval.low, marketPrice) - PRICE_TOLERANCE;
  const high = Math.max(interval.high, marketPrice) + PRICE_TOLERANCE;
  const ageMs = now - analysedAt;
  if (ageMs > STALE_ANALYSIS_MS_MAX || (price !== null && (price < low || price > high))) return "expired";
  return ageMs < FRESH_MS_MAX ? "fresh" : "stale";
}
