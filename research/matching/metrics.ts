/** Classification metrics of a matcher on labelled pairs. */
import type { GroupedForecast } from "../../src/quant/calibration.ts";

export interface ScoredPair {
  readonly probability: number;
  readonly isSame: boolean;
}

export interface PairScores {
  readonly n: number;
  readonly precision: number | null;
  readonly recall: number | null;
  readonly f1: number | null;
}

/** Precision, recall and F1 when pairs with at least this probability are matched; null where a denominator is 0. */
export function scoreAtThreshold(pairs: readonly ScoredPair[], threshold: number): PairScores {
  const accepted = pairs.filter(({ probability }) => probability >= threshold);
  const right = accepted.filter(({ isSame }) => isSame).length;
  const same = pairs.filter(({ isSame }) => isSame).length;
  const precision = accepted.length === 0 ? null : right / accepted.length;
  const recall = same === 0 ? null : right / same;
  const f1 = accepted.length + same === 0 ? null : (2 * right) / (accepted.length + same);
  return { n: pairs.length, precision, recall, f1 };
}

/** Converts pairs to forecasts of "same question". Each pair is its own group. */
export const toForecasts = (pairs: readonly ScoredPair[]): readonly GroupedForecast[] =>
  pairs.map(({ probability, isSame }, group) => ({ probability, outcome: isSame ? 1 : 0, group }));
