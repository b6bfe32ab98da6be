/** Fits the weights of the factors to resolved questions. */
import type { EngineCoefficients, FactorName } from "../../../src/engine/model.ts";
import { clamp } from "../../../src/lib/numbers.ts";
import { squaredError } from "../../../src/quant/calibration.ts";
import { clusteredStandardError } from "../../../src/quant/clustered-ratio.ts";
import { solveLinearSystem } from "../../logistic.ts";
import type { Sample } from "../samples.ts";
import { logLoss } from "../scores.ts";
import { type FactorExposures, priorAndExposures } from "./exposures.ts";
import { splitByGroup, splitByTime, type TrainTestSplit } from "./folds.ts";
import { fitRidge, meanSquareOf, predictProbability, RIDGE_PENALTY, type RidgeExample } from "./ridge.ts";

/** Maximum absolute weight. A weight of 1 applies a factor's full log-odds change; a larger weight would extrapolate. */
const WEIGHT_MAX = 1;
/** Maximum standard error of a weight. The standard deviation of a uniform distribution on [0, 1] is about 0.29. */
const WEIGHT_ERROR_MAX = 0.3;
/** Minimum number of groups with evidence for a factor; factors with fewer groups are not fitted. */
const GROUPS_MIN = 20;

export interface FitRow {
  readonly group: string;
  readonly asOf: number;
  readonly resolvedAt: number;
  readonly outcome: number;
  /** Log-odds of the prior. */
  readonly offset: number;
  readonly exposures: FactorExposures;
}

export function toFitRows(samples: readonly Sample[], coefficients: EngineCoefficients): FitRow[] {
  return samples.flatMap(({ view, group, outcome, history }) => {
    const exposure = priorAndExposures(view, coefficients);
    if (exposure === null) return [];
    const { prior, exposures } = exposure;
    return [{ group, asOf: view.asOf, resolvedAt: history.resolvedAt, outcome, offset: prior.logOdds, exposures }];
  });
}

/** Out-of-fold gain of a factor, and whether it is kept. */
export interface FactorTest {
  readonly name: FactorName;
  readonly rows: number;
  readonly groups: number;
  readonly weight: number;
  /** Scores without the factor minus scores with it, with folds by group and by time; above 0 is better. */
  readonly byGroup: ScoreGain;
  readonly byTime: ScoreGain;
  readonly isKept: boolean;
}

export interface ScoreGain {
  readonly logLoss: number;
  readonly error: number;
  readonly brier: number;
}

/**
 * Ridge logistic regression (`fitRidge`) of the outcomes on the factors' exposures, with the log-odds of the prior as
 * offset and without intercept.
 *
 * Each factor is first tested alone against the prior. It passes if three conditions hold: with folds by group, it
 * lowers the log loss by at least one standard error; with folds by group, it lowers the Brier score; with folds by
 * time, it lowers the log loss. The factors that pass are then fitted together. The worst factor is removed until each
 * remaining factor passes the same test against the others.
 */
export function fitWeights(rows: readonly FitRow[], candidates: readonly FactorName[]) {
  const folds = { byGroup: splitByGroup(rows), byTime: splitByTime(rows) };
  const trials = candidates.flatMap((name) => {
    const applied = rows.filter(({ exposures }) => (exposures[name] ?? 0) !== 0);
    const groups = new Set(applied.map(({ group }) => group)).size;
    return groups < GROUPS_MIN ? [] : [{ ...testFactor(name, [], rows, folds), rows: applied.length, groups }];
  });
  let kept = trials.filter(({ isKept }) => isKept).map(({ name }) => name);
  while (kept.length > 1) {
    const failed = kept
      .map((name) => testFactor(name, without(kept, name), rows, folds))
      .filter(({ isKept }) => !isKept)
      .sort((a, b) => a.byGroup.logLoss - b.byGroup.logLoss)[0];
    if (failed === undefined) break;
    kept = without(kept, failed.name);
  }
  const weights = fitTo(rows, kept);
  return {
    /** Weights of the candidates with enough groups. */
    weights: Object.fromEntries(trials.map(({ name }) => [name, weights[kept.indexOf(name)] ?? 0])),
    covariance: covarianceOf(rows, kept, weights),
    trials: trials.map((trial) => ({ ...trial, isKept: kept.includes(trial.name) })),
  };
}

const without = (names: readonly FactorName[], name: FactorName) => names.filter((other) => other !== name);

type Folds = Readonly<Record<"byGroup" | "byTime", readonly TrainTestSplit<FitRow>[]>>;

function testFactor(
  name: FactorName,
  others: readonly FactorName[],
  rows: readonly FitRow[],
  folds: Folds,
): Omit<FactorTest, "rows" | "groups"> {
  const names = [...others, name];
  const byGroup = gainOf(others, names, folds.byGroup);
  const byTime = gainOf(others, names, folds.byTime);
  const isKept = byGroup.logLoss >= byGroup.error && byGroup.logLoss > 0 && byGroup.brier > 0 && byTime.logLoss > 0;
  return { name, weight: fitTo(rows, names).at(-1) ?? 0, byGroup, byTime, isKept };
}

function gainOf(
  smaller: readonly FactorName[],
  larger: readonly FactorName[],
  folds: readonly TrainTestSplit<FitRow>[],
): ScoreGain {
  const tested = folds.flatMap(({ train, test }) => {
    const [before = [], after = []] = [smaller, larger].map((names) => {
      const weights = fitTo(train, names);
      return test.map((row) => predictProbability(toExample(row, names), weights));
    });
    return test.map((row, index) => ({ row, before: before[index] ?? 0, after: after[index] ?? 0 }));
  });
  const terms = tested.map(({ row, before, after }) => ({
    group: row.group,
    numerator: logLoss(before, row.outcome) - logLoss(after, row.outcome),
    denominator: 1,
  }));
  const brier = tested.reduce(
    (sum, { row, before, after }) => sum + squaredError(before, row.outcome) - squaredError(after, row.outcome),
    0,
  );
  const n = Math.max(1, tested.length);
  return {
    logLoss: terms.reduce((sum, { numerator }) => sum + numerator, 0) / n,
    error: tested.length === 0 ? Number.POSITIVE_INFINITY : clusteredStandardError(terms),
    brier: brier / n,
  };
}

const toExample = ({ exposures, offset, outcome }: FitRow, names: readonly FactorName[]): RidgeExample => ({
  features: names.map((name) => exposures[name] ?? 0),
  offset,
  outcome,
});

/** Fits the weights of the named factors and limits them to [-1, 1]. */
function fitTo(rows: readonly FitRow[], names: readonly FactorName[]): readonly number[] {
  const weights = fitRidge(rows.map((row) => toExample(row, names)));
  return weights.map((weight) => clamp(weight, -WEIGHT_MAX, WEIGHT_MAX));
}

/**
 * Covariance of the weights. The correlations come from the inverse Hessian. Each standard error is the larger of the
 * inverse-Hessian one and the group-clustered sandwich estimate, limited to 0.3.
 */
function covarianceOf(
  rows: readonly FitRow[],
  names: readonly FactorName[],
  weights: readonly number[],
): EngineCoefficients["covariance"] {
  const examples = rows.map((row) => toExample(row, names));
  const hessian = names.map((_, row) =>
    names.map((_, column) => (row === column ? RIDGE_PENALTY * meanSquareOf(examples, row) : 0)),
  );
  const scores = new Map<string, number[]>();
  for (const [index, example] of examples.entries()) {
    const probability = predictProbability(example, weights);
    const group = rows[index]?.group ?? "";
    const score = scores.get(group) ?? names.map(() => 0);
    scores.set(group, score);
    for (const [a, value] of example.features.entries()) {
      score[a] = (score[a] ?? 0) + value * (example.outcome - probability);
      const cells = hessian[a] ?? [];
      for (const [b, other] of example.features.entries())
        cells[b] = (cells[b] ?? 0) + value * other * probability * (1 - probability);
    }
  }
  const inverse = names.map((_, index) =>
    solveLinearSystem(
      hessian,
      names.map((_, other) => (other === index ? 1 : 0)),
    ),
  );
  const steps = [...scores.values()].map((score) => solveLinearSystem(hessian, score));
  const scales = names.map((_, index) => {
    const robust = steps.reduce((sum, step) => sum + (step[index] ?? 0) ** 2, 0);
    const variance = inverse[index]?.[index] ?? 1;
    return Math.sqrt(Math.min(Math.max(variance, robust), WEIGHT_ERROR_MAX ** 2) / variance);
  });
  return Object.fromEntries(
    names.map((a, row) => [
      a,
      Object.fromEntries(
        names.map((b, column) => [b, (inverse[row]?.[column] ?? 0) * (scales[row] ?? 1) * (scales[column] ?? 1)]),
      ),
    ]),
  );
}
