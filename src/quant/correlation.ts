import { clamp, countBits } from "../lib/numbers.ts";
import type { LogOddsMoves } from "./price-grid.ts";

/** Minimum number of joint moves for a correlation coefficient. */
export const JOINT_MOVES_MIN = 30;

export type CorrelationRelationship =
  | "strong_positive"
  | "positive"
  | "neutral"
  | "negative"
  | "strong_negative"
  | "insufficient_data";

export interface PairCorrelation {
  /** Indexes of the two series; `a` is below `b`. */
  readonly a: number;
  readonly b: number;
  /** Pearson coefficient, in [-1, 1]; null if the data is insufficient. */
  readonly correlation: number | null;
  /** Number of grid steps in which both moves are known. */
  readonly dataPoints: number;
}

/**
 * Correlations of all pairs of series over the steps in which both moves are known (pairwise-complete).
 *
 * r = S_xy / sqrt(S_xx * S_yy), with S_xy the sum of (x - mean x)(y - mean y).
 *
 * A pair has no coefficient unless both markets moved in at least `JOINT_MOVES_MIN` common steps. Two markets that
 * hardly trade move together only by chance, and a market that never moves has no variance.
 *
 * @param series  moves on one common grid; n series of k moves take O(n² k) multiplications
 * @param jointMovesMin  minimum number of joint moves for a coefficient
 * @returns  pairs in the order (0,1), (0,2), …, (1,2), …
 * @throws RangeError when the series differ in length
 * @see Pearson (1895), "Note on regression and inheritance in the case of two parents"; Epps (1979) on the bias of fine
 *   grids towards 0, which is why coarse grids are used
 */
export function pairCorrelations(
  series: readonly LogOddsMoves[],
  jointMovesMin: number = JOINT_MOVES_MIN,
): PairCorrelation[] {
  const length = series[0]?.values.length ?? 0;
  if (series.some(({ values }) => values.length !== length))
    throw new RangeError("all series must have the same length");
  const prepared = series.map(prepare);
  const products = dotProducts(prepared.map(({ values }) => values));
  const pairs: PairCorrelation[] = [];
  for (const [a, x] of prepared.entries())
    for (let b = a + 1; b < prepared.length; b++) {
      const y = prepared[b];
      if (y !== undefined) pairs.push(correlate(a, b, x, y, products[a * prepared.length + b] ?? 0, jointMovesMin));
    }
  return pairs;
}

interface Prepared {
  /** The moves minus their mean, which keeps the sums of squares accurate. Unknown moves are 0. */
  readonly values: Float64Array;
  readonly first: number;
  /** Sums over the first k values, and over their squares. */
  readonly sums: Float64Array;
  readonly squareSums: Float64Array;
  /** One bit per step, set if the market moved. */
  readonly movedBits: Uint32Array;
}

function prepare({ values: moves, first }: LogOddsMoves): Prepared {
  const { length } = moves;
  const mean = moves.reduce((sum, move) => sum + move, 0) / Math.max(1, length - first);
  const values = moves.map((move, index) => (index < first ? 0 : move - mean));
  const sums = new Float64Array(length + 1);
  const squareSums = new Float64Array(length + 1);
  const movedBits = new Uint32Array(Math.ceil(length / 32));
  for (let index = 0; index < length; index++) {
    const value = values[index] ?? 0;
    sums[index + 1] = (sums[index] ?? 0) + value;
    squareSums[index + 1] = (squareSums[index] ?? 0) + value * value;
    if (moves[index] !== 0) movedBits[index >>> 5] = (movedBits[index >>> 5] ?? 0) | (1 << (index & 31));
  }
  return { values, first, sums, squareSums, movedBits };
}

/**
 * Each series has mean 0 over its known steps. The known steps of the shorter series are the joint steps, so its sum
 * over them is 0, and the sum of the products needs no correction for the means.
 *
 * @param product  sum of the products of all values; an unknown value is 0
 */
function correlate(
  a: number,
  b: number,
  x: Prepared,
  y: Prepared,
  product: number,
  jointMovesMin: number,
): PairCorrelation {
  const first = Math.max(x.first, y.first);
  const dataPoints = x.values.length - first;
  if (!haveJointMoves(x.movedBits, y.movedBits, jointMovesMin)) return { a, b, correlation: null, dataPoints };
  const squaresX = sumOfSquares(x, first);
  const squaresY = sumOfSquares(y, first);
  if (!(squaresX > 0 && squaresY > 0)) return { a, b, correlation: null, dataPoints };
  return { a, b, correlation: clamp(product / Math.sqrt(squaresX * squaresY), -1, 1), dataPoints };
}

/** Sum of the squares of the values from `first` on, minus their mean. The sum of all values is 0. */
function sumOfSquares({ values: { length }, sums, squareSums }: Prepared, first: number): number {
  return (squareSums[length] ?? 0) - (squareSums[first] ?? 0) - (sums[first] ?? 0) ** 2 / (length - first);
}

/**
 * Dot products of all pairs of rows. The product of rows a and b, with a < b, is at index a * n + b.
 *
 * Multiplies four rows by each later row at once: each value read from memory is used in four independent
 * multiplications.
 */
function dotProducts(rows: readonly Float64Array[]): Float64Array {
  const count = rows.length;
  const products = new Float64Array(count * count);
  const none = new Float64Array(rows[0]?.length ?? 0);
  for (let a = 0; a < count; a += 4) {
    const [x0 = none, x1 = none, x2 = none, x3 = none] = rows.slice(a, a + 4);
    for (let b = a + 1; b < count; b++) {
      const y = rows[b] ?? none;
      let sum0 = 0;
      let sum1 = 0;
      let sum2 = 0;
      let sum3 = 0;
      for (let index = 0; index < y.length; index++) {
        const value = y[index] as number;
        sum0 += (x0[index] as number) * value;
        sum1 += (x1[index] as number) * value;
        sum2 += (x2[index] as number) * value;
        sum3 += (x3[index] as number) * value;
      }
      // Pairs whose first row is not before the second are computed too, but not read.
      products[a * count + b] = sum0;
      if (a + 1 < count) products[(a + 1) * count + b] = sum1;
      if (a + 2 < count) products[(a + 2) * count + b] = sum2;
      if (a + 3 < count) products[(a + 3) * count + b] = sum3;
    }
  }
  return products;
}

/** Whether there are enough joint moves. Moves before the first known move are 0, so they set no bit. */
function haveJointMoves(x: Uint32Array, y: Uint32Array, min: number): boolean {
  let count = 0;
  for (let index = 0; index < x.length && count < min; index++) count += countBits((x[index] ?? 0) & (y[index] ?? 0));
  return count >= min;
}

/**
 * Classifies a correlation: at least 0.7 is `strong_positive`, at least 0.3 `positive`, above -0.3 `neutral`, above
 * -0.7 `negative`, and lower is `strong_negative`.
 *
 * @param correlation  in [-1, 1]; null if the data is insufficient
 */
export function relationshipOf(correlation: number | null): CorrelationRelationship {
  if (correlation === null) return "insufficient_data";
  if (!(correlation >= -1 && correlation <= 1))
    throw new RangeError(`correlation must be in [-1, 1], not ${correlation}`);
  if (correlation >= 0.7) return "strong_positive";
  if (correlation >= 0.3) return "positive";
  if (correlation > -0.3) return "neutral";
  return correlation > -0.7 ? "negative" : "strong_negative";
}

/**
 * Groups of series that are connected by correlations above a threshold (connected components). A series without such a
 * correlation is in no group.
 *
 * @param count  number of series
 * @param threshold  in [-1, 1]; a pair is connected if its coefficient is above it
 * @returns  groups of at least 2 indexes in increasing order, ordered by their first index
 * @throws RangeError when a pair names an index outside [0, count)
 */
export function correlationClusters(
  count: number,
  pairs: readonly Pick<PairCorrelation, "a" | "b" | "correlation">[],
  threshold: number,
): number[][] {
  const parents = Array.from({ length: count }, (_, index) => index);
  const rootOf = (index: number): number => {
    let root = index;
    for (let parent = parents[root]; parent !== root; parent = parents[root]) {
      if (parent === undefined) throw new RangeError(`there is no series ${root} of ${count}`);
      root = parent;
    }
    parents[index] = root;
    return root;
  };
  for (const { a, b, correlation } of pairs) {
    const [rootA, rootB] = [rootOf(a), rootOf(b)];
    if (correlation !== null && correlation > threshold) parents[Math.max(rootA, rootB)] = Math.min(rootA, rootB);
  }
  const groups = new Map<number, number[]>();
  for (let index = 0; index < count; index++) {
    const root = rootOf(index);
    groups.set(root, [...(groups.get(root) ?? []), index]);
  }
  return [...groups.values()].filter(({ length }) => length > 1);
}
