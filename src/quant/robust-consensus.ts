import { assertPositive, assertProbability } from "./assert.ts";

/** All of one agent's trades in one market, netted. */
export interface AgentView {
  /** Mean probability that the agent's net trades imply, in [0, 1]. */
  readonly probability: number;
  /** Net USD, above 0. */
  readonly usd: number;
}

export interface RobustConsensus {
  /** In [0, 1]. */
  readonly probability: number;
  /** Number of agents with equal weights that would be as informative: (sum w)² / sum w². */
  readonly effectiveAgents: number;
}

/** With fewer agents there is no robust figure. */
const AGENTS_MIN = 5;
const EFFECTIVE_AGENTS_MIN = 3;
/** Largest share of one agent in the total weight. */
const SHARE_MAX = 0.2;
/** Distance from the estimate, in probability, beyond which an agent's pull no longer grows. */
const HUBER_DISTANCE = 0.09;
const BISECTION_STEPS = 60;
/** Rounding errors of the pull of up to a million agents stay below this. */
const PULL_TOLERANCE = 1e-12;

/**
 * Consensus of agents that a few of them cannot move far, whatever volume they report: Huber's location estimate of the
 * agents' probabilities, in which nobody gains weight with volume beyond the lower quartile of all agents' volumes.
 *
 * weight w_i = sqrt(min(usd_i, lower quartile) / lower quartile), at most 20% of the total.
 * The estimate m solves sum of w_i psi(p_i - m) = 0 with psi(d) = d, limited to [-0.09, 0.09].
 *
 * If honest agents are spread with a standard deviation of 0.1, a share e of agents at an extreme moves m by about
 * 0.16 e / (1 - e): by 0.016 for 10% of 50.
 *
 * @returns  null with fewer than 5 agents, or fewer than 3 effective ones
 * @throws RangeError when a probability or a volume is outside its range
 * @see Huber (1964), "Robust Estimation of a Location Parameter", Annals of Mathematical Statistics 35(1)
 */
export function robustConsensus(views: readonly AgentView[]): RobustConsensus | null {
  for (const { probability, usd } of views) {
    assertProbability(probability, "probability");
    assertPositive(usd, "usd");
  }
  if (views.length < AGENTS_MIN) return null;
  const weights = limitShares(volumeWeights(views.map(({ usd }) => usd)));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const effectiveAgents = total ** 2 / weights.reduce((sum, weight) => sum + weight ** 2, 0);
  if (effectiveAgents < EFFECTIVE_AGENTS_MIN) return null;
  return {
    probability: huberLocation(
      views.map(({ probability }) => probability),
      weights,
    ),
    effectiveAgents,
  };
}

function volumeWeights(volumes: readonly number[]): number[] {
  const sorted = volumes.toSorted((a, b) => a - b);
  const lowerQuartile = sorted[Math.floor((sorted.length - 1) / 4)] ?? Number.NaN;
  return volumes.map((usd) => Math.sqrt(Math.min(usd, lowerQuartile) / lowerQuartile));
}

/** Lowers the largest weights until none exceeds its share of the total. With 5 agents all become equal. */
function limitShares(weights: readonly number[]): number[] {
  const sorted = weights.toSorted((a, b) => b - a);
  let rest = sorted.reduce((sum, weight) => sum + weight, 0);
  for (const [count, weight] of sorted.entries()) {
    // With the `count` largest weights lowered to L, L = share * (count * L + rest).
    const limit = (SHARE_MAX * rest) / (1 - SHARE_MAX * count);
    if (SHARE_MAX * count < 1 && weight <= limit) return weights.map((other) => Math.min(other, limit));
    if (SHARE_MAX * (count + 1) >= 1) return weights.map((other) => Math.min(other, weight));
    rest -= weight;
  }
  return [...weights];
}

/** Where all agents are far away, an interval of estimates solves the equation; its middle is returned. */
function huberLocation(values: readonly number[], weights: readonly number[]): number {
  const pull = (center: number) =>
    values.reduce((sum, value, index) => {
      const distance = Math.min(Math.max(value - center, -HUBER_DISTANCE), HUBER_DISTANCE);
      return sum + (weights[index] ?? 0) * distance;
    }, 0);
  const solutionStart = bisect((center) => pull(center) > PULL_TOLERANCE);
  const solutionEnd = bisect((center) => pull(center) >= -PULL_TOLERANCE);
  return (solutionStart + solutionEnd) / 2;
}

/** Returns the point in [0, 1] at which a condition that holds below it stops to hold. */
function bisect(isBelow: (point: number) => boolean): number {
  let [low, high] = [0, 1];
  for (let step = 0; step < BISECTION_STEPS; step++) {
    const middle = (low + high) / 2;
    if (isBelow(middle)) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
