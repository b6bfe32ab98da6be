/** Fits the models of the matcher to labelled pairs, and scores them by cross-validation. */
import { logit } from "../../src/lib/numbers.ts";
import type { LogisticModel, MatchingCoefficients } from "../../src/matching/decide.ts";
import type { WordWeights } from "../../src/matching/text/word-weights.ts";
import { normaliseText, stemsOf } from "../../src/matching/text/words.ts";
import { fitLogistic } from "../logistic.ts";
import { compareRow, predictRow } from "./compare-rows.ts";
import { groupPairs } from "./groups.ts";
import type { ScoredRow } from "./report.ts";
import type { PairRow } from "./rows.ts";

/** Ridge penalty on the weights. */
export const RIDGE_PENALTY = 0.5;
export const FOLD_COUNT = 10;
/** Minimum number of titles that contain a stem. Rarer stems are not counted. */
export const WORD_COUNT_MIN = 3;
/** Number of decimals of the coefficients. Further decimals would differ between machines. */
const COEFFICIENT_DECIMALS = 4;
/** Rounds a coefficient. Adding 0 converts -0 to 0. */
const round = (value: number): number => Number(value.toFixed(COEFFICIENT_DECIMALS)) + 0;

/** Number of distinct titles, and number of titles that contain each stem (at least `WORD_COUNT_MIN`). */
export interface WordCounts {
  readonly titleCount: number;
  readonly counts: Readonly<Record<string, number>>;
}

export function countWords(titles: readonly string[]): WordCounts {
  const distinct = new Set(titles);
  const counts = new Map<string, number>();
  for (const title of distinct)
    for (const stem of new Set(stemsOf(normaliseText(title)))) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  const listed = [...counts].filter(([, count]) => count >= WORD_COUNT_MIN).sort(([a], [b]) => (a < b ? -1 : 1));
  return { titleCount: distinct.size, counts: Object.fromEntries(listed) };
}

/**
 * Fits the market and event models to the pairs without a veto. The board calibration is the identity.
 *
 * @throws Error if the pairs of a grain all have the same label
 */
export function fitCoefficients(rows: readonly PairRow[], weightOf: WordWeights): MatchingCoefficients {
  const examples: Record<PairRow["grain"], Example[]> = { market: [], event: [] };
  for (const row of rows) {
    const { features, findVetoes } = compareRow(row, weightOf);
    if (findVetoes().length === 0) examples[row.grain].push({ features, isSame: row.same });
  }
  return {
    market: fitModel(examples.market),
    event: fitModel(examples.event),
    board: { slope: 1, shift: 0 },
  };
}
const CALIBRATION_RIDGE = 0.1;

/**
 * Calibrates match confidences by Platt scaling: calibrated log-odds = slope * log-odds of the model + shift.
 *
 * @param scored  board candidates with cross-validated probabilities
 */
export function calibrateBoard(scored: readonly ScoredRow[]): MatchingCoefficients["board"] {
  const logOdds = scored.map(({ probability }) => [logit(probability)]);
  const { intercept, weights } = fitLogistic(
    logOdds,
    scored.map(({ isSame }) => (isSame ? 1 : 0)),
    CALIBRATION_RIDGE,
  );
  return { slope: round(weights[0] ?? 1), shift: round(intercept) };
}

/** Predicts each pair with a model fitted without the pair's group. */
export function crossValidate(rows: readonly PairRow[], weightOf: WordWeights): ScoredRow[] {
  const folds = groupPairs(rows).map((group) => group % FOLD_COUNT);
  const models = Array.from({ length: FOLD_COUNT }, (_, fold) =>
    folds.includes(fold)
      ? fitCoefficients(
          rows.filter((_, index) => folds[index] !== fold),
          weightOf,
        )
      : null,
  );
  return rows.map((row, index) => {
    const model = models[folds[index] ?? 0];
    if (model === undefined || model === null) throw new Error("each fold has a model");
    return { row, isSame: row.same, probability: predictRow(row, model, weightOf).probability };
  });
}

interface Example {
  readonly features: Readonly<Record<string, number>>;
  readonly isSame: boolean;
}

function fitModel(examples: readonly Example[]): LogisticModel {
  const names = Object.keys(examples[0]?.features ?? {});
  const { intercept, weights } = fitLogistic(
    examples.map(({ features }) => names.map((name) => features[name] ?? 0)),
    examples.map(({ isSame }) => (isSame ? 1 : 0)),
    RIDGE_PENALTY,
  );
  return {
    intercept: round(intercept),
    weights: Object.fromEntries(names.map((name, index) => [name, round(weights[index] ?? 0)])),
  };
}
