import { bisect } from "../lib/numbers.ts";
import type { PairCorrelation } from "./correlation.ts";

/** A squared Cholesky pivot below this counts as 0: the matrix is then numerically singular. */
const PIVOT_MIN = 1e-6;
const SHRINK_STEPS = 30;

export type Matrix = readonly Float64Array[];

export interface ShrunkCorrelations {
  readonly matrix: Matrix;
  /** Lower triangular L with L Lᵀ = matrix. */
  readonly factor: Matrix;
}

/**
 * Correlation matrix from pairwise estimates: each coefficient is multiplied by 1 - λ, with the λ that minimises the
 * expected squared error against the identity, λ = Σ var(r) / Σ r², var(r) = (1 - r²)² / (m - 1) for m data points. If
 * the pairwise estimates do not form a positive definite matrix, λ is increased until they do.
 *
 * @param count  number of variables, at least 1
 * @param pairs  a pair that is missing or has no coefficient is uncorrelated
 * @throws RangeError when a pair names a variable outside [0, count)
 * @see Ledoit & Wolf (2004), "A well-conditioned estimator for large-dimensional covariance matrices"; Schäfer &
 *   Strimmer (2005) for the variances of correlations
 */
export function shrinkCorrelations(count: number, pairs: readonly PairCorrelation[]): ShrunkCorrelations {
  const known = pairs.flatMap(({ a, b, correlation, dataPoints }) => {
    if (!(a >= 0 && a < count && b >= 0 && b < count) || a === b)
      throw new RangeError(`there is no pair ${a}, ${b} of ${count}`);
    return correlation === null ? [] : [{ a, b, correlation, dataPoints }];
  });
  let squares = 0;
  let variances = 0;
  for (const { correlation: r, dataPoints } of known) {
    squares += r * r;
    variances += (1 - r * r) ** 2 / Math.max(1, dataPoints - 1);
  }
  const matrixAt = (shrinkage: number): Matrix => {
    const rows = Array.from({ length: count }, (_, row) => new Float64Array(count).fill(1, row, row + 1));
    for (const { a, b, correlation } of known) {
      const value = (1 - shrinkage) * correlation;
      for (const [row, column] of [
        [a, b],
        [b, a],
      ] as const) {
        const cells = rows[row];
        if (cells !== undefined) cells[column] = value;
      }
    }
    return rows;
  };
  const least = squares === 0 ? 0 : Math.min(1, variances / squares);
  let matrix = matrixAt(least);
  let factor = cholesky(matrix);
  if (factor === null) {
    matrix = matrixAt(bisect([least, 1], SHRINK_STEPS, (shrinkage) => cholesky(matrixAt(shrinkage)) === null)[1]);
    factor = cholesky(matrix);
  }
  if (factor === null) throw new Error("the identity matrix has a Cholesky factor");
  return { matrix, factor };
}

/**
 * Cholesky factor of a symmetric matrix: the lower triangular L with L Lᵀ = matrix.
 *
 * @returns  null if the matrix is not positive definite (a squared pivot below 1e-6)
 */
export function cholesky(matrix: Matrix): Matrix | null {
  const factor = matrix.map(({ length }) => new Float64Array(length));
  for (const [row, values] of matrix.entries()) {
    const own = factor[row] as Float64Array;
    for (let column = 0; column <= row; column++) {
      const other = factor[column] as Float64Array;
      let rest = values[column] ?? Number.NaN;
      for (let k = 0; k < column; k++) rest -= (own[k] as number) * (other[k] as number);
      if (column < row) own[column] = rest / (other[column] as number);
      else if (!(rest >= PIVOT_MIN)) return null;
      else own[row] = Math.sqrt(rest);
    }
  }
  return factor;
}
