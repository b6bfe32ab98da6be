/** Scores of probabilities against outcomes. */
import { sumOf } from "../../src/lib/numbers.ts";
import { logLoss as boundedLogLoss, squaredError } from "../../src/quant/calibration.ts";
import { type ConfidenceInterval, clusteredRatio } from "../../src/quant/clustered-ratio.ts";

export interface Forecast {
  readonly group: string;
  /** In [0, 1]. */
  readonly probability: number;
  /** Market price, in [0, 1]. */
  readonly market: number;
  /** 0 or 1. */
  readonly outcome: number;
}

const BINS = 10;

/** Negative log-likelihood of the outcome, with the probability limited to [0.005, 0.995]. */
export const logLoss = (probability: number, outcome: number): number => boundedLogLoss(probability, outcome, 0.005);

const meanOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : sumOf(values) / values.length;

export interface ScoreComparison {
  readonly n: number;
  readonly groups: number;
  readonly brier: number | null;
  readonly marketBrier: number | null;
  readonly logScore: number | null;
  readonly marketLogScore: number | null;
  /** Mean paired difference of the Brier scores, model minus price, with a 95% interval clustered by group. */
  readonly diff: ConfidenceInterval | null;
}

/** Compares the scores of forecasts with the scores of market prices for the same questions and times. */
export function compareWithPrices(forecasts: readonly Forecast[]): ScoreComparison {
  const mean = (read: (forecast: Forecast) => number) => meanOf(forecasts.map(read));
  return {
    n: forecasts.length,
    groups: new Set(forecasts.map(({ group }) => group)).size,
    brier: mean(({ probability, outcome }) => squaredError(probability, outcome)),
    marketBrier: mean(({ market, outcome }) => squaredError(market, outcome)),
    logScore: mean(({ probability, outcome }) => logLoss(probability, outcome)),
    marketLogScore: mean(({ market, outcome }) => logLoss(market, outcome)),
    diff: clusteredRatio(
      forecasts.map(({ group, probability, market, outcome }) => ({
        group,
        numerator: squaredError(probability, outcome) - squaredError(market, outcome),
        denominator: 1,
      })),
    ),
  };
}

export interface BrierDecomposition {
  readonly bins: readonly { readonly n: number; readonly meanProbability: number; readonly yesShare: number }[];
  /** Mean squared difference between a bin's share of YES and its mean probability; 0 is best. */
  readonly reliability: number;
  /** Mean squared difference between a bin's share of YES and the overall share of YES; larger is better. */
  readonly resolution: number;
  /** Variance of the outcomes. */
  readonly uncertainty: number;
  /** Variance of the probabilities within bins minus twice their covariance with the outcomes. */
  readonly withinBins: number;
}

/**
 * Brier score = reliability - resolution + uncertainty + withinBins, over ten bins of equal width.
 *
 * @returns  null without forecasts
 * @see Murphy (1973), "A new vector partition of the probability score", Journal of Applied Meteorology 12(4)
 * @see Stephenson, Coelho & Jolliffe (2008), "Two extra components in the Brier score decomposition"
 */
export function decomposeBrierScore(
  forecasts: readonly Pick<Forecast, "probability" | "outcome">[],
): BrierDecomposition | null {
  if (forecasts.length === 0) return null;
  const total = forecasts.length;
  const base = sumOf(forecasts.map(({ outcome }) => outcome)) / total;
  const parts = Array.from({ length: BINS }, (_, index) =>
    forecasts.filter(({ probability }) => Math.min(BINS - 1, Math.floor(probability * BINS)) === index),
  ).filter((part) => part.length > 0);
  const sums = { reliability: 0, resolution: 0, withinBins: 0 };
  const bins = parts.map((part) => {
    const meanProbability = sumOf(part.map(({ probability }) => probability)) / part.length;
    const yesShare = sumOf(part.map(({ outcome }) => outcome)) / part.length;
    sums.reliability += (part.length / total) * (meanProbability - yesShare) ** 2;
    sums.resolution += (part.length / total) * (yesShare - base) ** 2;
    for (const { probability, outcome } of part) {
      const distance = probability - meanProbability;
      sums.withinBins += (distance ** 2 - 2 * distance * (outcome - yesShare)) / total;
    }
    return { n: part.length, meanProbability, yesShare };
  });
  return { bins, ...sums, uncertainty: base * (1 - base) };
}
