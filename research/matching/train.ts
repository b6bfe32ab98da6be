/** Fits the models of the matcher to labelled pairs, and scores them by cross-validation. */
import { logit } from "../../src/lib/numbers.ts";
import type { LogisticModel, MatchingCoefficients } from "../../src/matching/decide.ts";
import type { WordWeights } from "../../src/matching/text/word-weights.ts";
import { normaliseText, stemOf, stemsOf } from "../../src/matching/text/words.ts";
import { fitLogistic } from "../logistic.ts";
import { compareRow, predictRow } from "./compare-rows.ts";
import type { ScoredRow } from "./report.ts";
import type { PairRow } from "./rows.ts";

/** Ridge penalty on the weights. */
export const RIDGE_PENALTY = 0.5;
/** Minimum number of titles that contain a stem. Rarer stems are not counted. */
export const WORD_COUNT_MIN = 3;
/** Number of decimals of the coefficients. Further decimals would differ between machines. */
const COEFFICIENT_DECIMALS = 4;
/** Rounds a coefficient. Adding 0 converts -0 to 0. */
const round = (value: number): number => Number(value.toFixed(COEFFICIENT_DECIMALS)) + 0;

export interface WordCounts {
  readonly titleCount: number;
  /** Number of titles that contain each stem, at least `WORD_COUNT_MIN`. */
  readonly counts: Readonly<Record<string, number>>;
  /** Stems that are more often written in lower case than with a capital, sorted. */
  readonly common: readonly string[];
}

/** @param others  titles that count only for `common`, not for the counts */
export function countWords(titles: readonly string[], others: readonly string[] = []): WordCounts {
  const distinct = new Set(titles);
  const counts = new Map<string, number>();
  for (const title of distinct)
    for (const stem of new Set(stemsOf(normaliseText(title)))) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  const listed = [...counts].filter(([, count]) => count >= WORD_COUNT_MIN).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    titleCount: distinct.size,
    counts: Object.fromEntries(listed),
    common: findCommonWords(new Set([...titles, ...others])),
  };
}

function findCommonWords(titles: ReadonlySet<string>): readonly string[] {
  const balance = new Map<string, number>();
  // The first word of a title always has a capital.
  for (const title of titles)
    for (const word of title.match(/(?<= )\p{L}{2,}/gu) ?? []) {
      const stem = stemOf(normaliseText(word));
      balance.set(stem, (balance.get(stem) ?? 0) + (/^\p{Lu}/u.test(word) ? -1 : 1));
    }
  return [...balance].flatMap(([stem, count]) => (count > 0 ? [stem] : [])).sort();
}

/** A large input makes the ridge penalty on its weight negligible. */
const BOARD_INPUT = 10;
/** Relation of the candidates of a board (`board-pairs.ts`), of which fewer ask the same question. */
export const BOARD = "board_candidate";

interface Compared {
  readonly grain: PairRow["grain"];
  readonly isSame: boolean;
  readonly isVetoed: boolean;
  readonly isBoard: boolean;
  readonly features: Readonly<Record<string, number>>;
}

const compare = (row: PairRow, weightOf: WordWeights): Compared => {
  const { features, findVetoes } = compareRow(row, weightOf);
  return {
    grain: row.grain,
    isSame: row.same,
    isVetoed: findVetoes().length > 0,
    isBoard: row.relation === BOARD,
    features,
  };
};

/**
 * Fits the market and event models to the pairs without a veto. The board calibration is the identity.
 *
 * @throws Error if the pairs of a grain all have the same label
 */
export const fitCoefficients = (rows: readonly PairRow[], weightOf: WordWeights): MatchingCoefficients =>
  fitCompared(rows.map((row) => compare(row, weightOf)));

function fitCompared(pairs: readonly Compared[]): MatchingCoefficients {
  const examplesOf = (grain: PairRow["grain"]) => pairs.filter((pair) => pair.grain === grain && !pair.isVetoed);
  return {
    market: fitModel(examplesOf("market")),
    event: fitModel(examplesOf("event")),
    board: { slope: 1, shift: 0 },
  };
}
const CALIBRATION_RIDGE = 0.1;
/** Least probability of the candidates that decide the calibration. Most candidates are far below it and never match. */
const CALIBRATED_MIN = 0.2;

/**
 * Calibrates match confidences for the rate of true pairs among the candidates of a board: calibrated log-odds =
 * slope * log-odds of the model + shift.
 *
 * @param scored  board candidates with cross-validated probabilities
 */
export function calibrateBoard(scored: readonly ScoredRow[]): MatchingCoefficients["board"] {
  const compared = scored.filter(({ probability }) => probability >= CALIBRATED_MIN);
  const { intercept, weights } = fitLogistic(
    compared.map(({ probability }) => [logit(probability)]),
    compared.map(({ isSame }) => (isSame ? 1 : 0)),
    CALIBRATION_RIDGE,
  );
  return { slope: round(weights[0] ?? 1), shift: round(intercept) };
}

/**
 * Predicts each pair with a model fitted without the pairs of its fold.
 *
 * @param isUsed  whether a feature is used
 */
export function crossValidate(
  rows: readonly PairRow[],
  folds: readonly string[],
  weightOf: WordWeights,
  isUsed: (feature: string) => boolean = () => true,
): ScoredRow[] {
  const compared = rows.map((row): Compared => {
    const pair = compare(row, weightOf);
    return { ...pair, features: Object.fromEntries(Object.entries(pair.features).filter(([name]) => isUsed(name))) };
  });
  const models = new Map(
    [...new Set(folds)].map((fold) => [fold, fitCompared(compared.filter((_, index) => folds[index] !== fold))]),
  );
  return rows.map((row, index) => {
    const model = models.get(folds[index] ?? "");
    if (model === undefined) throw new Error("each fold has a model");
    return { row, isSame: row.same, probability: predictRow(row, model, weightOf).probability };
  });
}

type Example = Pick<Compared, "features" | "isSame" | "isBoard">;

/**
 * Expected coefficients before any pair is seen, in log-odds. The fit moves a coefficient away from them as far as the
 * pairs support it. Features that few pairs of one source have keep a sensible coefficient for other sources.
 */
const PRIOR_WEIGHTS: Readonly<Record<string, number>> = {
  nothing_differs: 3.5,
  same_core: 1.5,
  coverage_min: 2.5,
  coverage_max: 1.5,
  names_both: -4,
  names_one: -1,
  names_against_words: -2.5,
  words_both: -2,
  words_one: -0.5,
  subject_similarity: 1,
  subject_missing: -0.3,
  subject_differs: -4,
  period_differs: -4,
  close_gap: -2,
  other_day: -2.5,
  quantity_same: 1,
  quantity_missing: -4.5,
  scopes_same: 0.5,
  stage_differs: -3,
  stage_one_sided: -4.5,
  stage_partial: -1.5,
  condition_differs: -4,
  condition_one_sided: -3,
  bet_differs: -3,
  bet_one_sided: -4.5,
  action_differs: -3,
  action_one_sided: -2,
  win_one_sided: -0.3,
  strict_differs: -4,
  strict_one_sided: -5,
  number_one_sided: -2,
  number_differs: -3,
  general_differs: -2.5,
  general_one_sided: -0.7,
  place_one_sided: -1.2,
  place_differs: -4,
  fixture_same: 3.5,
  fixture_one_sided: -1.5,
  outcome_overlap: 1,
  outcome_unknown: -0.3,
  size_differs: -0.7,
};

/**
 * Fits one model to the labelled pairs and the candidates of a board. The rate of true pairs differs between the two, so
 * the candidates have an intercept of their own, which is not part of the model: `calibrateBoard` replaces it.
 */
function fitModel(examples: readonly Example[]): LogisticModel {
  const outcomes = examples.map(({ isSame }) => (isSame ? 1 : 0));
  const names = Object.keys(examples[0]?.features ?? {});
  const base = new Map(names.map((name) => [name, PRIOR_WEIGHTS[name] ?? 0]));
  let fitted = names;
  for (;;) {
    const inputs = examples.map(({ features, isBoard }) => [
      ...fitted.map((name) => features[name] ?? 0),
      isBoard ? BOARD_INPUT : 0,
    ]);
    const offsets = examples.map(({ features }) =>
      names.reduce((sum, name) => sum + (features[name] ?? 0) * (base.get(name) ?? 0), 0),
    );
    const { intercept, weights } = fitLogistic(inputs, outcomes, RIDGE_PENALTY, { offsets });
    const total = new Map(names.map((name) => [name, (base.get(name) ?? 0) + (weights[fitted.indexOf(name)] ?? 0)]));
    // The pairs can make a coefficient too small, or reverse its sign, by coincidence.
    const weak = fitted.filter((name) => isWeak(total.get(name) ?? 0, PRIOR_WEIGHTS[name] ?? 0));
    if (weak.length === 0)
      return {
        intercept: round(intercept),
        weights: Object.fromEntries([...total].map(([name, weight]) => [name, round(weight)])),
      };
    for (const name of weak) base.set(name, WEAKEST_SHARE * (PRIOR_WEIGHTS[name] ?? 0));
    fitted = fitted.filter((name) => !weak.includes(name));
  }
}

/** Share of its prior weight that a feature keeps at least. */
const WEAKEST_SHARE = 0.5;
const isWeak = (weight: number, prior: number): boolean => weight * Math.sign(prior) < WEAKEST_SHARE * Math.abs(prior);
