import type { LogOddsMoves } from "./price-grid.ts";

/** Pairs with fewer joint moves have no coefficient. */
export const JOINT_MOVES_MIN = 30;

export type Relationship =
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
 * @returns  pairs in the order (0,1), (0,2), …, (1,2), …
 * @throws RangeError when the series differ in length
 * @see Pearson (1895), "Note on regression and inheritance in the case of two parents"; Epps (1979) on the bias towards 0
 *   of fine grids, the reason for coarse ones
 */
export function pairCorrelations(series: readonly LogOddsMoves[]): PairCorrelation[] {
  const length = series[0]?.values.length ?? 0;
  if (series.some(({ values }) => values.length !== length))
    throw new RangeError("all series must have the same length");
  const prepared = series.map(prepare);
  const pairs: PairCorrelation[] = [];
  for (const [a, x] of prepared.entries())
    for (let b = a + 1; b < prepared.length; b++) {
      const y = prepared[b];
      if (y !== undefined) pairs.push({ a, b, ...correlate(x, y) });
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

function correlate(x: Prepared, y: Prepared): Pick<PairCorrelation, "correlation" | "dataPoints"> {
  const { length } = x.values;
  const first = Math.max(x.first, y.first);
  const dataPoints = length - first;
  if (countJointMoves(x.movedBits, y.movedBits) < JOINT_MOVES_MIN) return { correlation: null, dataPoints };
  const sumX = (x.sums[length] ?? 0) - (x.sums[first] ?? 0);
  const sumY = (y.sums[length] ?? 0) - (y.sums[first] ?? 0);
  const squaresX = (x.squareSums[length] ?? 0) - (x.squareSums[first] ?? 0) - (sumX * sumX) / dataPoints;
  const squaresY = (y.squareSums[length] ?? 0) - (y.squareSums[first] ?? 0) - (sumY * sumY) / dataPoints;
  if (!(squaresX > 0 && squaresY > 0)) return { correlation: null, dataPoints };
  const products = dotProduct(x.values, y.values, first) - (sumX * sumY) / dataPoints;
  return { correlation: Math.min(1, Math.max(-1, products / Math.sqrt(squaresX * squaresY))), dataPoints };
}

/** Four sums instead of one, so that the additions do not wait for each other. */
function dotProduct(x: Float64Array, y: Float64Array, first: number): number {
  let sum0 = 0;
  let sum1 = 0;
  let sum2 = 0;
  let sum3 = 0;
  let index = first;
  for (; index + 3 < x.length; index += 4) {
    sum0 += (x[index] as number) * (y[index] as number);
    sum1 += (x[index + 1] as number) * (y[index + 1] as number);
    sum2 += (x[index + 2] as number) * (y[index + 2] as number);
    sum3 += (x[index + 3] as number) * (y[index + 3] as number);
  }
  for (; index < x.length; index++) sum0 += (x[index] as number) * (y[index] as number);
  return sum0 + sum1 + sum2 + sum3;
}

/** Moves before the first known one are 0, so they set no bit. */
function countJointMoves(x: Uint32Array, y: Uint32Array): number {
  let count = 0;
  for (let index = 0; index < x.length; index++) count += countBits((x[index] ?? 0) & (y[index] ?? 0));
  return count;
}

/** @see Warren (2012), "Hacker's Delight", section 5-1 */
function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555);
  const nibbles = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333);
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}

/**
 * The relationship that a coefficient stands for: at least 0.7 `strong_positive`, at least 0.3 `positive`, above -0.3
 * `neutral`, above -0.7 `negative`, else `strong_negative`.
 *
 * @param correlation  in [-1, 1]; null if the data is insufficient
 * @throws RangeError when the coefficient is NaN or outside its range
 */
export function relationshipOf(correlation: number | null): Relationship {
  if (correlation === null) return "insufficient_data";
  if (!(correlation >= -1 && correlation <= 1))
    throw new RangeError(`correlation must be in [-1, 1], not ${correlation}`);
  if (correlation >= 0.7) return "strong_positive";
  if (correlation >= 0.3) return "positive";
  if (correlation > -0.3) return "neutral";
  return correlation > -0.7 ? "negative" : "strong_negative";
}

/**
 * Groups of series that are connected by correlations above a threshold (connected components). Series that correlate
 * with no other one are in no group.
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
