/** Scores of a matcher on labelled pairs. */

export interface Scored {
  readonly probability: number;
  readonly isSame: boolean;
}

export interface Score {
  readonly n: number;
  readonly precision: number | null;
  readonly recall: number | null;
  readonly f1: number | null;
}

/** Precision, recall and F1 of the pairs with at least this probability; null where a denominator is 0. */
export function scoreAt(pairs: readonly Scored[], threshold: number): Score {
  const accepted = pairs.filter(({ probability }) => probability >= threshold);
  const right = accepted.filter(({ isSame }) => isSame).length;
  const same = pairs.filter(({ isSame }) => isSame).length;
  const precision = accepted.length === 0 ? null : right / accepted.length;
  const recall = same === 0 ? null : right / same;
  const f1 = accepted.length + same === 0 ? null : (2 * right) / (accepted.length + same);
  return { n: pairs.length, precision, recall, f1 };
}

export interface CalibrationBin {
  readonly lower: number;
  readonly upper: number;
  readonly n: number;
  readonly meanProbability: number;
  readonly shareSame: number;
}

/** Ten bins of equal width, without the empty ones. */
export function calibrationBins(pairs: readonly Scored[]): CalibrationBin[] {
  return Array.from({ length: 10 }, (_, index) => {
    const inBin = pairs.filter(({ probability }) => Math.min(9, Math.floor(probability * 10)) === index);
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    return {
      lower: index / 10,
      upper: (index + 1) / 10,
      n: inBin.length,
      meanProbability: mean(inBin.map(({ probability }) => probability)),
      shareSame: mean(inBin.map(({ isSame }) => (isSame ? 1 : 0))),
    };
  }).filter(({ n }) => n > 0);
}

/** Expected calibration error: mean |share same - mean probability| over the bins, weighted by their size. */
export function calibrationError(pairs: readonly Scored[]): number | null {
  if (pairs.length === 0) return null;
  const sum = calibrationBins(pairs).reduce(
    (total, bin) => total + bin.n * Math.abs(bin.shareSame - bin.meanProbability),
    0,
  );
  return sum / pairs.length;
}

export function brierScore(pairs: readonly Scored[]): number | null {
  if (pairs.length === 0) return null;
  return pairs.reduce((sum, { probability, isSame }) => sum + (probability - (isSame ? 1 : 0)) ** 2, 0) / pairs.length;
}
