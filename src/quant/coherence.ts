import { clamp } from "../lib/numbers.ts";
import { assertPositive, assertProbability, assertSameLength } from "./assert.ts";

const ITERATIONS_MAX = 200;
/** Prices are bounded to at least this distance from 0 and 1, because the logarithm of 0 is infinite. */
const PRICE_MIN = 1e-6;

/**
 * Removes the overround of mutually exclusive outcomes by the power method: p_i = q_i^k, with k such that the
 * probabilities sum to `total`. Small prices lose relatively more than large ones, as the favourite-longshot bias
 * requires.
 *
 * @param prices  q_i, in [0, 1]; bounded to [1e-6, 1 - 1e-6]
 * @param total  sum of the probabilities, in (0, number of prices)
 * @returns  probabilities in the order of the prices
 * @see Clarke, Kovalchik & Ingram (2017), "Adjusting Bookmaker's Odds to Allow for Overround", American Journal of
 *   Sports Science 5(6)
 * @example removeOverround([0.5, 0.5, 0.25], 1); // [0.4142, 0.4142, 0.1716]: k = 1.272
 */
export function removeOverround(prices: readonly number[], total: number): number[] {
  assertPositive(total, "total");
  if (total >= prices.length) throw new RangeError(`total must be below the number of prices, not ${total}`);
  const logs = prices.map((price) => {
    assertProbability(price, "price");
    return Math.log(clamp(price, PRICE_MIN, 1 - PRICE_MIN));
  });
  const sumAt = (exponent: number) => logs.reduce((sum, log) => sum + Math.exp(exponent * log), 0);
  const { low, high } = bisectDecreasing(sumAt, total);
  return logs.map((log) => Math.exp(((low + high) / 2) * log));
}

/** Returns adjacent x > 0 with f(low) > target >= f(high), by bisection. f decreases, and f(0) is above the target. */
export function bisectDecreasing(f: (x: number) => number, target: number): { low: number; high: number } {
  let low = 0;
  let high = 1;
  while (f(high) > target && high < 2 ** 60) high *= 2;
  for (let iteration = 0; iteration < ITERATIONS_MAX && high - low > 1e-15 * high; iteration++) {
    const middle = (low + high) / 2;
    if (f(middle) > target) low = middle;
    else high = middle;
  }
  return { low, high };
}

/**
 * Returns the non-increasing sequence with the smallest weighted squared distance to the values (pool adjacent
 * violators).
 *
 * @param weights  above 0
 * @throws RangeError when the lists differ in length, or a weight is not above 0
 * @see Barlow et al. (1972), "Statistical Inference under Order Restrictions"
 * @example isotonicRegression([0.2, 0.4, 0.1], [1, 1, 1]); // [0.3, 0.3, 0.1]
 */
export function isotonicRegression(values: readonly number[], weights: readonly number[]): number[] {
  assertSameLength(values, weights, "values and weights");
  const blocks: { mean: number; weight: number; count: number }[] = [];
  for (const [index, value] of values.entries()) {
    const weight = weights[index] ?? 0;
    assertPositive(weight, "weight");
    let block = { mean: value, weight, count: 1 };
    for (let last = blocks.at(-1); last !== undefined && last.mean < block.mean; last = blocks.at(-1)) {
      blocks.pop();
      const sum = last.weight + block.weight;
      const mean = (last.mean * last.weight + block.mean * block.weight) / sum;
      block = { mean, weight: sum, count: last.count + block.count };
    }
    blocks.push(block);
  }
  return blocks.flatMap(({ mean, count }) => new Array<number>(count).fill(mean));
}
