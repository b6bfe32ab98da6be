import { clamp, sumOf } from "../../lib/numbers.ts";
import type { PairCorrelation } from "../../quant/correlation.ts";
import { shrinkCorrelations } from "../../quant/correlation-matrix.ts";
import { jointProbability } from "../../quant/joint-probability.ts";
import { normalQuantile } from "../../quant/normal.ts";
import { QMC_LATTICE_DIMENSIONS, QMC_LATTICE_POINTS, qmcLatticeRanks } from "../../quant/qmc-lattice.ts";
import { buildComponents, type ConstraintComponent } from "./constraint-components.ts";
import { fitPairProbabilities } from "./iterative-proportional-fitting.ts";
import { collapseConstraints, type Variables } from "./logical-constraints.ts";
import type { LogicalConstraint, UncertainMarket } from "./model.ts";

/**
 * Probabilities closer to 0 or 1 than this are moved to this distance, because their normal quantiles would be extreme.
 */
const PROBABILITY_MIN = 1e-6;
/** Minimum share of the points in which the first market resolves YES, and the same minimum for NO. */
const POINT_SHARE_MIN = 0.05;

export interface JointOutcomes {
  /** Probabilities of the outcomes, above 0; they sum to 1. */
  readonly weights: Float64Array;
  /** By market and outcome: 1 if the market resolves YES, else 0. */
  readonly answers: readonly Uint8Array[];
  readonly variables: Variables;
  readonly droppedConstraints: number;
}

/**
 * Samples joint outcomes of markets: 4,096 weighted points of a deterministic quasi-random lattice.
 *
 * Markets that logical constraints connect form a component. All feasible assignments of a component are enumerated, so
 * the constraints hold in every outcome. The representative of a component is the first market if the component
 * contains it, else its most important market.
 *
 * A Gaussian copula joins the components. Each component has one normal variable, which selects its assignment.
 * Assignments with YES for the representative come first. The correlation of two components is the correlation of their
 * representatives, shrunk to a positive definite matrix.
 *
 * The weights reproduce the probability of the first market within 1e-12, and the joint probabilities of pairs of
 * representatives within about 1e-3.
 *
 * @param markets  at least one market; at most 64 components
 * @throws RangeError when a constraint or a pair names an unknown market, or there are too many components
 */
export function jointOutcomes(
  markets: readonly UncertainMarket[],
  constraints: readonly LogicalConstraint[],
  correlations: readonly PairCorrelation[],
): JointOutcomes {
  const importances = markets.map(({ importance }, market) => (market === 0 ? Infinity : importance));
  const variables = collapseConstraints(importances, constraints);
  const marginals = variables.primaries.map((market) =>
    clamp(markets[market]?.probability ?? 0, PROBABILITY_MIN, 1 - PROBABILITY_MIN),
  );
  const between = correlationsOf(variables, correlations);
  const { blocks, droppedConstraints } = buildComponents(
    variables,
    marginals,
    (a, b) => between.get(keyOf(a, b))?.correlation ?? 0,
  );
  if (blocks.length > QMC_LATTICE_DIMENSIONS)
    throw new RangeError(`there must be at most ${QMC_LATTICE_DIMENSIONS} independent markets, not ${blocks.length}`);
  const pairs = pairsOfBlocks(blocks, between);
  const { matrix, factor } = shrinkCorrelations(blocks.length, pairs);
  const { chosen, weights } = sample(blocks, factor);
  const yesCounts = blocks.map(yesCountOf);
  const isYes = chosen.map((indexes, block) => {
    const count = yesCounts[block] ?? 0;
    const bits = new Float64Array(QMC_LATTICE_POINTS);
    for (let point = 0; point < QMC_LATTICE_POINTS; point++) bits[point] = (indexes[point] as number) < count ? 1 : 0;
    return bits;
  });
  const yes = blocks.map(({ probabilities }, block) => sumOf(probabilities.slice(0, yesCounts[block])));
  const targets = blocks.flatMap((_, b) =>
    Array.from({ length: b }, (_, a) => {
      const rho = clamp(matrix[a]?.[b] ?? 0, -1, 1);
      return { a, b, joint: jointProbability(yes[a] ?? 0, yes[b] ?? 0, rho) };
    }),
  );
  if (targets.length > 0) fitPairProbabilities(isYes, weights, yes, targets);
  if (isYes[0] !== undefined) setMarginal(weights, isYes[0], marginals[0] ?? 0);
  const truths: Uint8Array[] = variables.primaries.map(() => new Uint8Array(QMC_LATTICE_POINTS));
  for (const [block, { variables: members, assignments }] of blocks.entries())
    for (const [position, member] of members.entries()) {
      const values = assignments.map((assignment) => (assignment[position] === true ? 1 : 0));
      const [indexes, truth] = [chosen[block], truths[member]];
      if (indexes === undefined || truth === undefined) continue;
      for (let point = 0; point < QMC_LATTICE_POINTS; point++) truth[point] = values[indexes[point] as number] ?? 0;
    }
  const answers = variables.literals.map(({ variable, value }) => {
    const truth = truths[variable] ?? new Uint8Array(QMC_LATTICE_POINTS);
    return value ? truth : truth.map((bit) => 1 - bit);
  });
  return { weights, answers, variables, droppedConstraints: variables.droppedConstraints + droppedConstraints };
}

/** Scales the weights so that the outcomes whose bit is 1 have this probability in total. */
export function setMarginal(weights: Float64Array, bits: ArrayLike<number>, probability: number): void {
  let [yes, no] = [0, 0];
  for (let point = 0; point < weights.length; point++)
    if (bits[point] === 1) yes += weights[point] as number;
    else no += weights[point] as number;
  const [scaleYes, scaleNo] = [probability / yes, (1 - probability) / no];
  for (let point = 0; point < weights.length; point++)
    weights[point] = (weights[point] as number) * (bits[point] === 1 ? scaleYes : scaleNo);
}

/** Draws an assignment of each component for each point. */
function sample(
  blocks: readonly ConstraintComponent[],
  factor: readonly Float64Array[],
): { readonly chosen: readonly Uint16Array[]; readonly weights: Float64Array } {
  const { levels, levelWeights, yesPoints } = stratify(blocks[0]);
  const firstQuantiles = levels.map(normalQuantile);
  const quantiles = uniformQuantiles();
  const firstRanks = qmcLatticeRanks(0);
  const normals = blocks.map((_, dimension) => {
    const ranks = qmcLatticeRanks(dimension);
    const values = dimension === 0 ? firstQuantiles : quantiles;
    const normal = new Float64Array(QMC_LATTICE_POINTS);
    for (let point = 0; point < QMC_LATTICE_POINTS; point++) normal[point] = values[ranks[point] as number] as number;
    return normal;
  });
  const chosen = blocks.map(({ probabilities }, row) => {
    const thresholds = cumulate(probabilities).map((value) => normalQuantile(Math.min(1, value)));
    const latent = combine(factor[row], normals, row);
    const indexes = new Uint16Array(QMC_LATTICE_POINTS);
    for (let point = 0; point < QMC_LATTICE_POINTS; point++)
      indexes[point] = firstAbove(thresholds, latent[point] as number);
    return indexes;
  });
  const weights = new Float64Array(QMC_LATTICE_POINTS);
  const [first] = chosen;
  const yesCount = yesCountOf(blocks[0]);
  for (let point = 0; point < QMC_LATTICE_POINTS; point++) {
    const rank = firstRanks[point] as number;
    weights[point] = levelWeights[rank] as number;
    // The rank decides whether the first market resolves YES, so its probability is exact.
    const index = first?.[point] ?? 0;
    if (first !== undefined)
      first[point] = rank < yesPoints ? Math.min(index, yesCount - 1) : Math.max(index, yesCount);
  }
  return { chosen, weights };
}

let cachedQuantiles: Float64Array | null = null;

/** Returns the normal quantile of the coordinate of each rank. */
function uniformQuantiles(): Float64Array {
  cachedQuantiles ??= Float64Array.from({ length: QMC_LATTICE_POINTS }, (_, rank) =>
    normalQuantile((rank + 0.5) / QMC_LATTICE_POINTS),
  );
  return cachedQuantiles;
}

/**
 * Returns the level in (0, 1) and the weight of each rank of the first component. YES and NO each get a minimum number
 * of points.
 */
function stratify(block: ConstraintComponent | undefined) {
  const yesCount = yesCountOf(block);
  const probability = sumOf(block?.probabilities.slice(0, yesCount) ?? []);
  const share = clamp(probability, POINT_SHARE_MIN, 1 - POINT_SHARE_MIN);
  const yesPoints = Math.round(share * QMC_LATTICE_POINTS);
  const noPoints = QMC_LATTICE_POINTS - yesPoints;
  const levels = Float64Array.from({ length: QMC_LATTICE_POINTS }, (_, rank) =>
    rank < yesPoints
      ? (probability * (rank + 0.5)) / yesPoints
      : probability + ((1 - probability) * (rank - yesPoints + 0.5)) / noPoints,
  );
  const levelWeights = Float64Array.from({ length: QMC_LATTICE_POINTS }, (_, rank) =>
    rank < yesPoints ? probability / yesPoints : (1 - probability) / noPoints,
  );
  return { levels, levelWeights, yesPoints };
}

function combine(coefficients: Float64Array | undefined, normals: readonly Float64Array[], row: number): Float64Array {
  const latent = new Float64Array(QMC_LATTICE_POINTS);
  for (let column = 0; column <= row; column++) {
    const coefficient = coefficients?.[column] ?? 0;
    const values = normals[column];
    if (coefficient === 0 || values === undefined) continue;
    for (let point = 0; point < QMC_LATTICE_POINTS; point++)
      latent[point] = (latent[point] as number) + coefficient * (values[point] as number);
  }
  return latent;
}

function cumulate(values: readonly number[]): number[] {
  let sum = 0;
  return values.map((value) => (sum += value));
}

/** Returns the index of the first threshold above the value, or the last index if there is none. */
function firstAbove(thresholds: readonly number[], value: number): number {
  let [low, high] = [0, thresholds.length - 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((thresholds[middle] ?? Infinity) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

const yesCountOf = (block: ConstraintComponent | undefined): number =>
  block?.assignments.filter(([isTrue]) => isTrue === true).length ?? 0;
const keyOf = (a: number, b: number): string => (a < b ? `${a},${b}` : `${b},${a}`);

/**
 * Returns the correlations of pairs of variables: of their primary markets if known, else of other markets of the
 * variables. The sign is reversed if YES of exactly one of the two markets makes its variable false.
 */
function correlationsOf({ literals, primaries }: Variables, correlations: readonly PairCorrelation[]) {
  const found = new Map<string, PairCorrelation>();
  for (const pair of correlations) {
    const [x, y] = [literals[pair.a], literals[pair.b]];
    if (x === undefined || y === undefined) throw new RangeError(`there is no pair ${pair.a}, ${pair.b}`);
    if (x.variable === y.variable || pair.correlation === null) continue;
    const key = keyOf(x.variable, y.variable);
    const isPrimary = primaries[x.variable] === pair.a && primaries[y.variable] === pair.b;
    const sign = x.value === y.value ? 1 : -1;
    if (isPrimary || !found.has(key)) found.set(key, { ...pair, correlation: sign * pair.correlation });
  }
  return found;
}

function pairsOfBlocks(
  blocks: readonly ConstraintComponent[],
  between: ReadonlyMap<string, PairCorrelation>,
): PairCorrelation[] {
  return blocks.flatMap((own, b) =>
    Array.from({ length: b }, (_, a) => {
      const pair = between.get(keyOf(own.variables[0] ?? 0, blocks[a]?.variables[0] ?? 0));
      return { a, b, correlation: pair?.correlation ?? null, dataPoints: pair?.dataPoints ?? 0 };
    }),
  );
}
