/** Ridge logistic regression with an offset and without intercept. */
import { sigmoid } from "../../../src/lib/numbers.ts";
import { fitLogistic } from "../../logistic.ts";

/**
 * Ridge penalty on the weights of standardised features. It corresponds to a normal prior on each weight with mean 0
 * and standard deviation 1 / sqrt(5) = 0.45. In the data, every question with an extreme price resolved as the price
 * predicted, so the calibration weight would diverge without a penalty. Cross-validation prefers a smaller penalty
 * (docs/decisions/0013-log-odds-factors.md).
 */
export const RIDGE_PENALTY = 5;

export interface RidgeExample {
  readonly features: readonly number[];
  /** Part of the log-odds that is not fitted. */
  readonly offset: number;
  readonly outcome: number;
}

/**
 * Fits the weights of the features, without intercept. Each feature is divided by the root mean square of its nonzero
 * values, so that the penalty does not depend on its unit. Examples whose features are all 0 are ignored.
 *
 * @returns  one weight per feature; all 0 if not both outcomes occur
 */
export function fitRidge(examples: readonly RidgeExample[]): readonly number[] {
  const applied = examples.filter(({ features }) => features.some((value) => value !== 0));
  const width = examples[0]?.features.length ?? 0;
  const scales = Array.from({ length: width }, (_, index) => Math.sqrt(meanSquareOf(applied, index)) || 1);
  const outcomes = applied.map(({ outcome }) => outcome);
  if (!outcomes.includes(0) || !outcomes.includes(1)) return scales.map(() => 0);
  const { weights } = fitLogistic(
    applied.map(({ features }) => features.map((value, index) => value / (scales[index] ?? 1))),
    outcomes,
    RIDGE_PENALTY,
    { offsets: applied.map(({ offset }) => offset), hasIntercept: false },
  );
  return weights.map((weight, index) => weight / (scales[index] ?? 1));
}

/** Mean square of a feature's nonzero values; 0 if there are none. */
export function meanSquareOf(examples: readonly Pick<RidgeExample, "features">[], index: number): number {
  let sum = 0;
  let count = 0;
  for (const { features } of examples) {
    const value = features[index] ?? 0;
    if (value === 0) continue;
    sum += value * value;
    count += 1;
  }
  return count === 0 ? 0 : sum / count;
}

export function predictProbability(
  { features, offset }: Omit<RidgeExample, "outcome">,
  weights: readonly number[],
): number {
  const score = features.reduce((sum, value, index) => sum + value * (weights[index] ?? 0), offset);
  return sigmoid(score);
}
