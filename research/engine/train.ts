/** Fits the weights of the factors to resolved questions. */
import type { EngineCoefficients, FactorName } from "../../src/engine/model.ts";
import { fitLogistic, solve } from "../logistic.ts";
import { type Exposure, exposureOf } from "./exposures.ts";
import { type Split, splitByGroup, splitByTime } from "./folds.ts";
import type { Sample } from "./samples.ts";
import { logLoss, squaredError } from "./scores.ts";
import { clusteredError } from "./statistics.ts";

/**
 * Penalty on the weights of standardised exposures: the effect of a factor on the log-odds has a normal prior with mean 0
 * and standard deviation 1 / sqrt(5) = 0.45. In the tails no surprise occurred in the data, so the data alone would stretch
 * prices without limit.
 */
export const RIDGE = 5;
/** The lambda of a factor is the whole change that it asks for: no weight extrapolates it. */
const WEIGHT_MAX = 1;
/** A weight between 0 and 1 has at most about the standard error of a uniform distribution, 0.29. */
const WEIGHT_ERROR_MAX = 0.3;
/** A factor is fitted if it applies in at least this many groups. */
const GROUPS_MIN = 20;

/** A sample as the fit sees it. */
export interface FitRow {
  readonly group: string;
  readonly asOf: number;
  readonly resolvedAt: number;
  readonly outcome: number;
  /** Log-odds of the prior. */
  readonly offset: number;
  readonly exposures: Exposure;
}

export function toFitRows(samples: readonly Sample[], coefficients: EngineCoefficients): FitRow[] {
  return samples.flatMap(({ view, group, outcome, history }) => {
    const exposure = exposureOf(view, coefficients);
    if (exposure === null) return [];
    const { prior, exposures } = exposure;
    return [{ group, asOf: view.asOf, resolvedAt: history.resolvedAt, outcome, offset: prior.logOdds, exposures }];
  });
}

/** What a factor gains out of sample, and whether it is kept. */
export interface Trial {
  readonly name: FactorName;
  readonly rows: number;
  readonly groups: number;
  readonly weight: number;
  /** Mean log loss and Brier score without the factor minus those with it: above 0 is better. */
  readonly byGroup: Gain;
  readonly byTime: Gain;
  readonly isKept: boolean;
}

export interface Gain {
  readonly logLoss: number;
  readonly error: number;
  readonly brier: number;
}

export interface FittedWeights {
  readonly weights: Readonly<Partial<Record<FactorName, number>>>;
  readonly covariance: EngineCoefficients["covariance"];
  readonly trials: readonly Trial[];
}

/**
 * Ridge logistic regression of the outcomes on the factors' exposures, with the log-odds of the prior as offset and without
 * intercept.
 *
 * A factor is tried alone against the prior. It is kept if the out-of-fold log loss falls by at least one standard error by
 * group, the Brier score falls too, and the log loss also falls when only earlier questions are fitted. The factors that are
 * kept are then fitted together, and the worst is removed until each of them passes the same test against the others.
 */
export function fitWeights(rows: readonly FitRow[], candidates: readonly FactorName[]): FittedWeights {
  const folds = { byGroup: splitByGroup(rows), byTime: splitByTime(rows) };
  const trials = candidates.flatMap((name) => {
    const applied = rows.filter(({ exposures }) => (exposures[name] ?? 0) !== 0);
    const groups = new Set(applied.map(({ group }) => group)).size;
    return groups < GROUPS_MIN ? [] : [{ ...tryFactor(name, [], rows, folds), rows: applied.length, groups }];
  });
  let kept = trials.filter(({ isKept }) => isKept).map(({ name }) => name);
  while (kept.length > 1) {
    const failed = kept
      .map((name) => tryFactor(name, without(kept, name), rows, folds))
      .filter(({ isKept }) => !isKept)
      .sort((a, b) => a.byGroup.logLoss - b.byGroup.logLoss)[0];
    if (failed === undefined) break;
    kept = without(kept, failed.name);
  }
  const weights = fitTo(rows, kept);
  return {
    weights: Object.fromEntries(candidates.map((name) => [name, weights[kept.indexOf(name)] ?? 0])),
    covariance: covarianceOf(rows, kept, weights),
    trials: trials.map((trial) => ({ ...trial, isKept: kept.includes(trial.name) })),
  };
}

const without = (names: readonly FactorName[], name: FactorName) => names.filter((other) => other !== name);

type Folds = Readonly<Record<"byGroup" | "byTime", readonly Split<FitRow>[]>>;

function tryFactor(
  name: FactorName,
  others: readonly FactorName[],
  rows: readonly FitRow[],
  folds: Folds,
): Omit<Trial, "rows" | "groups"> {
  const names = [...others, name];
  const byGroup = gainOf(others, names, folds.byGroup);
  const byTime = gainOf(others, names, folds.byTime);
  const isKept = byGroup.logLoss >= byGroup.error && byGroup.logLoss > 0 && byGroup.brier > 0 && byTime.logLoss > 0;
  return { name, weight: fitTo(rows, names).at(-1) ?? 0, byGroup, byTime, isKept };
}

function gainOf(smaller: readonly FactorName[], larger: readonly FactorName[], folds: readonly Split<FitRow>[]): Gain {
  const tested = folds.flatMap(({ train, test }) => {
    const [before, after] = [smaller, larger].map((names) => ({ names, weights: fitTo(train, names) }));
    return test.map((row) => ({ row, before: predict(row, before), after: predict(row, after) }));
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
    error: tested.length === 0 ? Number.POSITIVE_INFINITY : clusteredError(terms),
    brier: brier / n,
  };
}

interface Model {
  readonly names: readonly FactorName[];
  readonly weights: readonly number[];
}

function predict({ offset, exposures }: FitRow, model: Model | undefined): number {
  const change = (model?.names ?? []).reduce(
    (sum, name, index) => sum + (model?.weights[index] ?? 0) * (exposures[name] ?? 0),
    0,
  );
  return 1 / (1 + Math.exp(-(offset + change)));
}

/** Weights of the named factors, in [-1, 1]. Rows to which none of them applies do not influence the fit. */
function fitTo(rows: readonly FitRow[], names: readonly FactorName[]): readonly number[] {
  const applied = rows.filter(({ exposures }) => names.some((name) => (exposures[name] ?? 0) !== 0));
  const outcomes = applied.map(({ outcome }) => outcome);
  if (!outcomes.includes(0) || !outcomes.includes(1)) return names.map(() => 0);
  const scales = names.map((name) => Math.sqrt(meanSquareOf(applied, name)) || 1);
  const { weights } = fitLogistic(
    applied.map(({ exposures }) => names.map((name, index) => (exposures[name] ?? 0) / (scales[index] ?? 1))),
    outcomes,
    RIDGE,
    { offsets: applied.map(({ offset }) => offset), hasIntercept: false },
  );
  return weights.map((weight, index) => Math.max(-WEIGHT_MAX, Math.min(WEIGHT_MAX, weight / (scales[index] ?? 1))));
}

/** Mean square of a factor's exposures where it applies; 0 if it never does. */
function meanSquareOf(rows: readonly FitRow[], name: FactorName): number {
  const values = rows.map(({ exposures }) => exposures[name] ?? 0).filter((value) => value !== 0);
  return values.reduce((sum, value) => sum + value ** 2, 0) / Math.max(1, values.length);
}

/**
 * Covariance of the weights: the inverse Hessian, with each standard error raised to that of the group-clustered sandwich
 * estimator where it is larger, and then limited to 0.3.
 */
function covarianceOf(
  rows: readonly FitRow[],
  names: readonly FactorName[],
  weights: readonly number[],
): EngineCoefficients["covariance"] {
  const penalties = names.map((name) => RIDGE * meanSquareOf(rows, name));
  const hessian = penalties.map((penalty, row) => penalties.map((_, column) => (row === column ? penalty : 0)));
  const scores = new Map<string, number[]>();
  for (const row of rows) {
    const probability = predict(row, { names, weights });
    const x = names.map((name) => row.exposures[name] ?? 0);
    const score = scores.get(row.group) ?? names.map(() => 0);
    scores.set(row.group, score);
    for (const [a, value] of x.entries()) {
      score[a] = (score[a] ?? 0) + value * (row.outcome - probability);
      const cells = hessian[a] ?? [];
      for (const [b, other] of x.entries())
        cells[b] = (cells[b] ?? 0) + value * other * probability * (1 - probability);
    }
  }
  const inverse = names.map((_, index) =>
    solve(
      hessian,
      names.map((_, other) => (other === index ? 1 : 0)),
    ),
  );
  const steps = [...scores.values()].map((score) => solve(hessian, score));
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
