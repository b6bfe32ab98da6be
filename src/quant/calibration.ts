/** Scores forecast probabilities against outcomes. An outcome is the payout of a YES contract, in [0, 1]. */
import { clamp } from "../lib/numbers.ts";
import { assertPositive, assertProbability } from "./assert.ts";
import { normalQuantile } from "./normal.ts";

export interface ScoredForecast {
  /** In [0, 1]. */
  readonly probability: number;
  /** Payout of one YES contract, in [0, 1]. */
  readonly outcome: number;
}

/**
 * Minimum number of independent questions for a skill figure. With fewer, a single unexpected outcome changes the
 * figure more than skill does.
 */
export const SKILL_QUESTIONS_MIN = 30;

/** Squared error of a probability: (p - o)². */
export const squaredError = (probability: number, outcome: number): number => (probability - outcome) ** 2;

/**
 * Logarithmic loss of a probability: -o ln p - (1 - o) ln (1 - p).
 *
 * @param distanceMin  in (0, 0.5). Minimum distance of a probability from 0 and 1: a wrong probability of 0 or 1 would
 *   have an infinite loss
 * @example logLoss(0.8, 1, 1e-4); // 0.2231
 */
export function logLoss(probability: number, outcome: number, distanceMin: number): number {
  const bounded = clamp(probability, distanceMin, 1 - distanceMin);
  return -(outcome * Math.log(bounded) + (1 - outcome) * Math.log(1 - bounded));
}

/**
 * Mean of the squared errors. 0 is best. A constant probability of 0.5 scores 0.25 on yes/no outcomes.
 *
 * @returns  null without forecasts
 * @see Brier (1950), "Verification of forecasts expressed in terms of probability", Monthly Weather Review 78(1)
 * @example brierScore([{ probability: 0.8, outcome: 1 }]); // 0.04
 */
export const brierScore = (forecasts: readonly ScoredForecast[]): number | null => meanOf(forecasts, squaredError);

/**
 * Mean of the logarithmic losses; 0 is best.
 *
 * @param distanceMin  as in `logLoss`
 * @returns  null without forecasts
 * @see Good (1952), "Rational Decisions", Journal of the Royal Statistical Society B 14(1)
 */
export const meanLogLoss = (forecasts: readonly ScoredForecast[], distanceMin: number): number | null =>
  meanOf(forecasts, (probability, outcome) => logLoss(probability, outcome, distanceMin));

function meanOf(
  forecasts: readonly ScoredForecast[],
  lossOf: (probability: number, outcome: number) => number,
): number | null {
  let sum = 0;
  for (const forecast of forecasts) {
    assertForecast(forecast);
    sum += lossOf(forecast.probability, forecast.outcome);
  }
  return forecasts.length === 0 ? null : sum / forecasts.length;
}

function assertForecast({ probability, outcome }: ScoredForecast): void {
  assertProbability(probability, "probability");
  assertProbability(outcome, "outcome");
}

/**
 * Brier skill score: 1 - score / reference. Above 0, the score is better than the reference.
 *
 * @returns  null if a score is null or the reference is perfect
 * @example brierSkillScore(0.18, 0.2); // 0.1
 */
export function brierSkillScore(score: number | null, reference: number | null): number | null {
  return score === null || reference === null || reference === 0 ? null : 1 - score / reference;
}

const Z_95 = normalQuantile(0.975);

/**
 * 95% confidence interval of a share (Wilson score interval). Observations may be fractional. Their variance is smaller
 * than that of yes/no observations, so the interval is too wide rather than too narrow.
 *
 * center (p + z²/2n) / (1 + z²/n), half width z sqrt(p (1 - p)/n + z²/4n²) / (1 + z²/n)
 *
 * @param share  observed share of successes, in [0, 1]
 * @param count  number of independent observations, above 0
 * @see Wilson (1927), "Probable inference, the law of succession, and statistical inference", JASA 22(158)
 * @example wilsonInterval(0.5, 10); // { low: 0.2366, high: 0.7634 }
 */
export function wilsonInterval(share: number, count: number): { readonly low: number; readonly high: number } {
  assertProbability(share, "share");
  assertPositive(count, "count");
  const z2 = Z_95 ** 2;
  const scale = 1 + z2 / count;
  const center = (share + z2 / (2 * count)) / scale;
  const halfWidth = (Z_95 * Math.sqrt((share * (1 - share)) / count + z2 / (4 * count ** 2))) / scale;
  // The lower bound for a share of 0 is exactly 0, and the upper bound for 1 is exactly 1, without a floating-point
  // error.
  return {
    low: share === 0 ? 0 : Math.max(0, center - halfWidth),
    high: share === 1 ? 1 : Math.min(1, center + halfWidth),
  };
}

const BINS = 10;

/** The forecasts in one range of probabilities. In an empty bin, the means and the interval are null. */
export interface ReliabilityBin {
  /** Inclusive. */
  readonly lower: number;
  /** Exclusive; inclusive in the last bin. */
  readonly upper: number;
  readonly count: number;
  readonly meanPredicted: number | null;
  /** Mean outcome. */
  readonly observedFrequency: number | null;
  /** 95% Wilson interval of the observed frequency, with one observation per group. */
  readonly low: number | null;
  readonly high: number | null;
}

/** A forecast of a group. Forecasts of one group are dependent; groups are independent. */
export interface GroupedForecast extends ScoredForecast {
  readonly group: number;
}

/**
 * Compares the mean probability with the mean outcome in ten bins of equal width. In the interval of a bin, a group
 * counts as one observation, as if its forecasts were equal. If they differ, the interval is too wide rather than too
 * narrow.
 *
 * @returns  all ten bins, including empty ones
 * @see Murphy & Winkler (1977), "Reliability of subjective probability forecasts", Applied Statistics 26(1)
 */
export function reliabilityBins(forecasts: readonly GroupedForecast[]): readonly ReliabilityBin[] {
  const sums = Array.from({ length: BINS }, () => ({
    count: 0,
    predicted: 0,
    observed: 0,
    groups: new Set<number>(),
  }));
  for (const forecast of forecasts) {
    assertForecast(forecast);
    const sum = sums[Math.min(BINS - 1, Math.floor(forecast.probability * BINS))];
    if (sum === undefined) continue;
    sum.count += 1;
    sum.predicted += forecast.probability;
    sum.observed += forecast.outcome;
    sum.groups.add(forecast.group);
  }
  return sums.map(({ count, predicted, observed, groups }, index) => {
    const edges = { lower: index / BINS, upper: (index + 1) / BINS, count };
    if (count === 0) return { ...edges, meanPredicted: null, observedFrequency: null, low: null, high: null };
    // The sum of n fractional outcomes can exceed n by a rounding error.
    const observedFrequency = Math.min(1, observed / count);
    const meanPredicted = Math.min(1, predicted / count);
    return { ...edges, meanPredicted, observedFrequency, ...wilsonInterval(observedFrequency, groups.size) };
  });
}

/**
 * Expected calibration error: the mean of |observed frequency - mean probability| over the bins, weighted by their
 * counts. In a small sample it is above 0 even if the probabilities are right.
 *
 * @returns  in [0, 1]; null if all bins are empty
 * @see Naeini, Cooper & Hauskrecht (2015), "Obtaining well calibrated probabilities using Bayesian binning", AAAI
 */
export function expectedCalibrationError(bins: readonly ReliabilityBin[]): number | null {
  let total = 0;
  let distance = 0;
  for (const { count, meanPredicted, observedFrequency } of bins) {
    if (meanPredicted === null || observedFrequency === null) continue;
    total += count;
    distance += count * Math.abs(observedFrequency - meanPredicted);
  }
  return total === 0 ? null : distance / total;
}
