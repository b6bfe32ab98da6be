/** Numeric helpers. */

/** Adds the values in order; 0 without values. */
export function sumOf(values: Iterable<number>): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}

/** Limits a value to [low, high]. NaN stays NaN. @example clamp(1.2, 0, 1) // 1 */
export const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);

export const roundTo = (value: number, decimals: number): number => {
  const scale = 10 ** decimals;
  return Math.round(value * scale) / scale;
};

/** Log-odds of a probability: ln(p / (1 - p)); infinite for 0 and 1. @example logit(0.75) // 1.0986 = ln 3 */
export const logit = (probability: number): number => Math.log(probability / (1 - probability));

/** Probability of log-odds: 1 / (1 + exp(-L)), the inverse of `logit`. @example sigmoid(0) // 0.5 */
export const sigmoid = (logOdds: number): number => 1 / (1 + Math.exp(-logOdds));

/** Number of set bits in a 32-bit word. @see Warren (2012), "Hacker's Delight", section 5-1 */
export function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555);
  const nibbles = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}

/**
 * Finds the point at which a condition becomes false, by bisection. The condition must hold below that point and fail
 * above it.
 *
 * @returns  bounds of the point after the given number of halvings
 * @example bisect([0, 2], 50, (x) => x * x <= 2)[0]; // 1.4142
 */
export function bisect(
  [low, high]: readonly [low: number, high: number],
  steps: number,
  holds: (value: number) => boolean,
): readonly [low: number, high: number] {
  const middle = (low + high) / 2;
  if (steps === 0) return [low, high];
  return bisect(holds(middle) ? [middle, high] : [low, middle], steps - 1, holds);
}

/** Returns the largest integer in [low, high) for which a condition holds. It must hold for all smaller ones. */
export function largestInteger(low: number, high: number, holds: (value: number) => boolean): number {
  if (high - low <= 1) return low;
  const middle = Math.floor((low + high) / 2);
  return holds(middle) ? largestInteger(middle, high, holds) : largestInteger(low, middle, holds);
}

/** Returns the number of items for which a condition holds. These items must precede all others. */
export const partitionPoint = <Item>(items: readonly Item[], holds: (item: Item) => boolean): number =>
  largestInteger(-1, items.length, (index) => holds(items[index] as Item)) + 1;

/** Copies a typed array to the start of `target`, and returns `target`. */
export function copyInto<Values extends Float32Array | Float64Array | Int32Array | Uint32Array>(
  target: Values,
  source: Values,
): Values {
  target.set(source);
  return target;
}
