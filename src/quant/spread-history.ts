import { assertNotNegative } from "./assert.ts";
import { percentileRank, weightedMean } from "./weighted.ts";

/** Ratio of two spreads up to which they count as equal. */
const TREND_RATIO = 1.1;

export type SpreadTrend = "tightening" | "widening" | "stable";

/** Spreads of one market, oldest first. Each spread is valid until the time of the next one. */
export interface SpreadSeries {
  /** Milliseconds since 1970, not decreasing. */
  readonly times: readonly number[];
  /** Ask minus bid in price units, at least 0; null while a side has no quote. */
  readonly spreads: readonly (number | null)[];
}

export interface SpreadPeriod {
  readonly from: number;
  /** Start of the recent part of the period. The trend compares its mean with the mean of the earlier part. */
  readonly recentFrom: number;
  /** End of the period; later quotes are not used. */
  readonly to: number;
  /** Minimum time with a known spread for a percentile or a trend, in milliseconds. */
  readonly observedMsMin: number;
}

export interface SpreadStatistics {
  /** Time-weighted mean over the period; null if no spread is known. */
  readonly mean: number | null;
  /** Percentile of the current spread: time with a smaller spread, plus half of the time with an equal spread. */
  readonly percentile: number | null;
  readonly trend: SpreadTrend | null;
}

/**
 * Returns for how long each quote was current within [from, to): from its time, or `from` if it is earlier, until the
 * time of the next quote, or `to` for the last quote.
 *
 * @param times  milliseconds since 1970, not decreasing
 * @returns  milliseconds, one per quote
 * @throws RangeError when the times decrease or `to` is before `from`
 * @example holdingTimes([0, 10, 30], 5, 40); // [5, 20, 10]
 */
export function holdingTimes(times: readonly number[], from: number, to: number): number[] {
  assertNotNegative(to - from, "to - from");
  return times.map((time, index) => {
    const next = times[index + 1] ?? Infinity;
    if (!(next >= time)) throw new RangeError("times must not decrease");
    return Math.max(0, Math.min(next, to) - Math.max(time, from));
  });
}

/**
 * Trend of a spread: `widening` if the recent mean is more than 10% above the earlier mean, `tightening` if it is more
 * than 10% below (a ratio of 1 to 1.1), else `stable`.
 *
 * @example spreadTrend(0.03, 0.02); // "widening"
 */
export function spreadTrend(recentMean: number, earlierMean: number): SpreadTrend {
  assertNotNegative(recentMean, "recentMean");
  assertNotNegative(earlierMean, "earlierMean");
  if (recentMean > earlierMean * TREND_RATIO) return "widening";
  return recentMean * TREND_RATIO < earlierMean ? "tightening" : "stable";
}

/**
 * Time-weighted statistics of a market's spread. Quotes after `to` have no weight, so nothing later than `to` is used.
 *
 * @param current  the spread to rank; null if it is unknown
 * @throws RangeError when the lists differ in length, the times decrease, the bounds of the period are out of order, or
 *   a spread is negative or not finite
 * @example
 * const period = { from: 0, recentFrom: 20, to: 40, observedMsMin: 5 };
 * spreadStatistics({ times: [0, 30], spreads: [0.01, 0.03] }, 0.02, period);
 * // { mean: 0.015, percentile: 75, trend: "widening" }
 */
export function spreadStatistics(
  { times, spreads }: SpreadSeries,
  current: number | null,
  { from, recentFrom, to, observedMsMin }: SpreadPeriod,
): SpreadStatistics {
  if (times.length !== spreads.length) throw new RangeError("times and spreads must have the same length");
  const known = spreads.flatMap((spread, index) => (spread === null ? [] : [{ spread, index }]));
  const values = known.map(({ spread }) => spread);
  for (const value of values) assertNotNegative(value, "spread");
  const weightsWithin = (start: number, end: number) => {
    const held = holdingTimes(times, start, end);
    const weights = known.map(({ index }) => held[index] ?? 0);
    return { weights, isEnough: weights.reduce((sum, weight) => sum + weight, 0) >= observedMsMin };
  };
  const all = weightsWithin(from, to);
  const earlier = weightsWithin(from, recentFrom);
  const recent = weightsWithin(recentFrom, to);
  const recentMean = recent.isEnough ? weightedMean(values, recent.weights) : null;
  const earlierMean = earlier.isEnough ? weightedMean(values, earlier.weights) : null;
  return {
    mean: weightedMean(values, all.weights),
    percentile: current !== null && all.isEnough ? percentileRank(current, values, all.weights) : null,
    trend: recentMean === null || earlierMean === null ? null : spreadTrend(recentMean, earlierMean),
  };
}
