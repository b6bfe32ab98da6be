/** Ridge logistic regression. */

export interface LogisticFit {
  readonly intercept: number;
  readonly weights: readonly number[];
}

const ITERATIONS_MAX = 50;
const STEP_MAX = 2;
const CONVERGED = 1e-8;

/**
 * Minimises -sum(ln likelihood) + ridge / 2 * |weights|^2 by Newton's method. The intercept is not penalised.
 *
 * @param inputs  one row of features per example, all of the same length
 * @param outcomes  0 or 1 for each example
 * @throws Error if there is no example, or if not both outcomes occur
 */
export function fitLogistic(
  inputs: readonly (readonly number[])[],
  outcomes: readonly number[],
  ridge: number,
): LogisticFit {
  const width = (inputs[0]?.length ?? 0) + 1;
  if (!outcomes.includes(0) || !outcomes.includes(1)) throw new Error("both outcomes must occur");
  let weights = new Array<number>(width).fill(0);
  for (let iteration = 0; iteration < ITERATIONS_MAX; iteration++) {
    const gradient = weights.map((weight, index) => (index === 0 ? 0 : -ridge * weight));
    const hessian = weights.map((_, row) =>
      weights.map((_, column) => (row === column ? (row === 0 ? 1e-9 : ridge) : 0)),
    );
    for (const [example, input] of inputs.entries()) {
      const x = [1, ...input];
      const score = x.reduce((sum, value, index) => sum + value * (weights[index] ?? 0), 0);
      const probability = 1 / (1 + Math.exp(-score));
      const residual = (outcomes[example] ?? 0) - probability;
      const variance = Math.max(probability * (1 - probability), 1e-9);
      for (let row = 0; row < width; row++) {
        gradient[row] = (gradient[row] ?? 0) + residual * (x[row] ?? 0);
        const cells = hessian[row] ?? [];
        for (let column = 0; column < width; column++)
          cells[column] = (cells[column] ?? 0) + variance * (x[row] ?? 0) * (x[column] ?? 0);
      }
    }
    const step = solve(hessian, gradient).map((value) => Math.max(-STEP_MAX, Math.min(STEP_MAX, value)));
    weights = weights.map((weight, index) => weight + (step[index] ?? 0));
    if (Math.max(...step.map(Math.abs)) < CONVERGED) break;
  }
  return { intercept: weights[0] ?? 0, weights: weights.slice(1) };
}

/** Solves A x = b by Gaussian elimination with partial pivoting. */
function solve(matrix: readonly (readonly number[])[], vector: readonly number[]): number[] {
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
