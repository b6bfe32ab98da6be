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
  const [min, median, max] = quantiles(samples, [0, 0.5, 1]);
  return { count: samples.length, min, median, max };
}

/**
 * Returns quantiles of samples, by linear interpolation between neighbours.
 *
 * @param samples  in any order, not empty
 * @param shares   in [0, 1]
 */
export function quantiles<const Shares extends readonly number[]>(
  samples: readonly number[],
  shares: Shares,
): { [Index in keyof Shares]: number } {
  if (samples.length === 0) throw new RangeError("quantiles need at least one sample");
  const sorted = Float64Array.from(samples).sort();
  const quantileAt = (share: number) => {
    const position = share * (sorted.length - 1);
    const lowerSample = sorted[Math.floor(position)] ?? Number.NaN;
    const upperSample = sorted[Math.ceil(position)] ?? Number.NaN;
    return lowerSample + (upperSample - lowerSample) * (position - Math.floor(position));
  };
  return shares.map(quantileAt) as { [Index in keyof Shares]: number };
}

export const quantile = (samples: readonly number[], share: number): number => quantiles(samples, [share])[0];
