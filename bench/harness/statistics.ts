/** Minimum, median and maximum of a figure's samples. One slow round does not change the median. */
export interface Spread {
  readonly count: number;
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

/** Computes minimum, median and maximum. @throws RangeError if there are no samples or a sample is not finite */
export function spreadOf(samples: readonly number[]): Spread {
  if (samples.length === 0) throw new RangeError("a spread needs at least one sample");
  if (!samples.every(Number.isFinite)) throw new RangeError(`not a finite sample in ${samples.join(", ")}`);
  const sorted = samples.toSorted((a, b) => a - b);
  return {
    count: sorted.length,
    min: sorted[0] ?? Number.NaN,
    median: quantile(sorted, 0.5),
    max: sorted.at(-1) ?? Number.NaN,
  };
}

/**
 * Returns a quantile of sorted samples, by linear interpolation between neighbours.
 *
 * @param sorted  ascending, not empty
 * @param share   in [0, 1]
 */
export function quantile(sorted: readonly number[], share: number): number {
  if (sorted.length === 0 || !(share >= 0 && share <= 1))
    throw new RangeError(`no ${share} quantile of ${sorted.length}`);
  const position = share * (sorted.length - 1);
  const lowerSample = sorted[Math.floor(position)] ?? Number.NaN;
  const upperSample = sorted[Math.ceil(position)] ?? Number.NaN;
  return lowerSample + (upperSample - lowerSample) * (position - Math.floor(position));
}
