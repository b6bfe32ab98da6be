/** Ridge logistic regression. */
import { clamp, sigmoid } from "../src/lib/numbers.ts";

export interface LogisticFit {
  /** 0 if the model has no intercept. */
  readonly intercept: number;
  readonly weights: readonly number[];
}

export interface LogisticOptions {
  /** Part of each example's log-odds that is not fitted; 0 if absent. */
  readonly offsets?: readonly number[];
  /** Default true. */
  readonly hasIntercept?: boolean;
}

const ITERATIONS_MAX = 50;
const STEP_MAX = 2;
const CONVERGED = 1e-8;
/** Minimum value added to the diagonal of the Hessian, so that the Hessian is invertible without a penalty. */
const INTERCEPT_RIDGE = 1e-9;

/**
 * Minimises -sum(ln likelihood) + ridge / 2 * |weights|^2 by Newton's method. The intercept is not penalised.
 *
 * log-odds of example i = offset_i + intercept + sum of weights_k inputs_ik
 *
 * @param inputs  one row of features per example, all of the same length
 * @param outcomes  0 or 1 for each example
 * @throws Error if there is no example, or if not both outcomes occur
 */
export function fitLogistic(
  inputs: readonly (readonly number[])[],
  outcomes: readonly number[],
  ridge: number,
  { offsets, hasIntercept = true }: LogisticOptions = {},
): LogisticFit {
  if (!outcomes.includes(0) || !outcomes.includes(1)) throw new Error("both outcomes must occur");
  const rows = hasIntercept ? inputs.map((input) => [1, ...input]) : inputs;
  const penalties = (rows[0] ?? []).map((_, index) => (hasIntercept && index === 0 ? 0 : ridge));
  let weights = penalties.map(() => 0);
  for (let iteration = 0; iteration < ITERATIONS_MAX; iteration++) {
    const gradient = weights.map((weight, index) => -(penalties[index] ?? 0) * weight);
    const hessian = penalties.map((penalty, row) =>
      penalties.map((_, column) => (row === column ? Math.max(penalty, INTERCEPT_RIDGE) : 0)),
    );
    for (const [example, x] of rows.entries()) {
      let score = offsets?.[example] ?? 0;
      for (let index = 0; index < x.length; index++) score += (x[index] ?? 0) * (weights[index] ?? 0);
      const probability = sigmoid(score);
      const variance = Math.max(probability * (1 - probability), 1e-9);
      addExample(x, (outcomes[example] ?? 0) - probability, variance, gradient, hessian);
    }
    const step = solveLinearSystem(hessian, gradient).map((value) => clamp(value, -STEP_MAX, STEP_MAX));
    weights = weights.map((weight, index) => weight + (step[index] ?? 0));
    if (step.every((value) => Math.abs(value) < CONVERGED)) break;
  }
  return hasIntercept ? { intercept: weights[0] ?? 0, weights: weights.slice(1) } : { intercept: 0, weights };
}

/** Adds one example to the gradient and the Hessian. */
function addExample(
  x: readonly number[],
  residual: number,
  variance: number,
  gradient: number[],
  hessian: readonly number[][],
): void {
  for (let row = 0; row < x.length; row++) {
    gradient[row] = (gradient[row] ?? 0) + residual * (x[row] ?? 0);
    const cells = hessian[row] ?? [];
    for (let column = 0; column < x.length; column++)
      cells[column] = (cells[column] ?? 0) + variance * (x[row] ?? 0) * (x[column] ?? 0);
  }
}

/** Solves A x = b by Gaussian elimination with partial pivoting. A must not be singular. */
export function solveLinearSystem(matrix: readonly (readonly number[])[], vector: readonly number[]): number[] {
  const rows = matrix.map((row, index) => [...row, vector[index] ?? 0]);
  const size = rows.length;
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let column = 0; column < size; column++) {
    let pivot = column;
    for (let row = column + 1; row < size; row++)
      if (Math.abs(at(row, column)) > Math.abs(at(pivot, column))) pivot = row;
    [rows[column], rows[pivot]] = [rows[pivot] ?? [], rows[column] ?? []];
    for (let row = 0; row < size; row++) {
      if (row === column) continue;
      const factor = at(row, column) / at(column, column);
      rows[row] = (rows[row] ?? []).map((value, index) => value - factor * at(column, index));
    }
  }
  return rows.map((row, index) => (row[size] ?? 0) / (row[index] ?? 1));
}
