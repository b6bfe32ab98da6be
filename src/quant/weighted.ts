import { assertNotNegative, assertSameLength } from "./assert.ts";

/**
 * Weighted mean: sum of w x / sum of w.
 *
 * @param weights  at least 0; for a time-weighted mean, how long each value held
 * @returns  null if the weights sum to 0
 * @throws RangeError when the lists differ in length, or a weight is negative or not finite
 * @example weightedMean([1, 4], [2, 1]); // 2
 */
export function weightedMean(values: readonly number[], weights: readonly number[]): number | null {
  assertSameLength(values, weights, "values and weights");
  let sum = 0;
  let totalWeight = 0;
  for (const [index, weight] of weights.entries()) {
    assertNotNegative(weight, "weight");
    sum += weight * (values[index] ?? Number.NaN);
    totalWeight += weight;
  }
  return totalWeight > 0 ? sum / totalWeight : null;
}

/**
 * Percentile rank of a value among weighted values: the share of the weight below it, plus half of the weight equal to
 * it, in percent.
 *
 * @param values  in any unit and order
 * @param weights  at least 0
 * @returns  percent, in [0, 100]; null if the weights sum to 0
 * @throws RangeError when the lists differ in length, or a weight is negative or not finite
 * @see Roscoe (1975), "Fundamental Research Statistics", on the mid-rank definition
 * @example percentileRank(3, [1, 2, 3, 4], [1, 1, 1, 1]); // 62.5
 */
export function percentileRank(value: number, values: readonly number[], weights: readonly number[]): number | null {
  const ranks = values.map((other) => (other < value ? 100 : other === value ? 50 : 0));
  return weightedMean(ranks, weights);
}
