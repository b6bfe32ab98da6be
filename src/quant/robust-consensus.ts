import { bisect, clamp, sumOf } from "../lib/numbers.ts";
import { assertPositive, assertProbability } from "./assert.ts";
import { weightedMean } from "./weighted.ts";

/** Net position of one agent's trades in one market. */
export interface AgentPosition {
  /** Mean probability that the agent's net trades imply, in [0, 1]. */
  readonly probability: number;
  /** Net USD, above 0. */
  readonly usd: number;
}

/** Minimum number of agents for a consensus. */
const AGENTS_MIN = 5;
/** Distance from the estimate, in probability, beyond which an agent's influence no longer grows. */
const HUBER_DISTANCE = 0.09;
/** Quantile of the agents' volumes. Volumes at or above it have full weight. */
const CAP_QUANTILE = 0.05;
const BISECTION_STEPS = 60;
/** Rounding errors of the mean pull of 100,000 agents stay below this. */
const PULL_TOLERANCE = 1e-12;

/**
 * Consensus that a few agents cannot move far, even with large volumes: Huber's location estimate of the agents'
 * probabilities. Volume above the fifth percentile of the agents' volumes adds no weight.
 *
 * weight w_i = sqrt(min(usd_i, cap) / cap). At least 5 agents have the largest weight, 1, so no agent has more than 20%
 * of the total. A higher quantile would reduce the weight of honest agents with small volumes, so attackers could move
 * the estimate further. The estimate m solves sum of w_i psi(p_i - m) = 0 with psi(d) = d, limited to [-0.09, 0.09].
 *
 * If honest agents are spread with a standard deviation of 0.1, a share e of agents at an extreme moves m by about
 * 0.14 e / (1 - e): by 0.016 for 10% of 50.
 *
 * @returns  in [0, 1]; null with fewer than 5 agents
 * @see Huber (1964), "Robust Estimation of a Location Parameter", Annals of Mathematical Statistics 35(1)
 */
export function robustConsensus(views: readonly AgentPosition[]): number | null {
  for (const { probability, usd } of views) {
    assertProbability(probability, "probability");
    assertPositive(usd, "usd");
  }
  if (views.length < AGENTS_MIN) return null;
  return huberLocation(
    views.map(({ probability }) => probability),
    volumeWeights(views.map(({ usd }) => usd)),
  );
}

function volumeWeights(volumes: readonly number[]): number[] {
  const sorted = volumes.toSorted((a, b) => a - b);
  const volumeCap = sorted[Math.floor((sorted.length - 1) * CAP_QUANTILE)] ?? Number.NaN;
  return volumes.map((usd) => Math.sqrt(Math.min(usd, volumeCap) / volumeCap));
}

/** Returns the midpoint of the solutions. They form an interval if every agent is far from the estimate. */
function huberLocation(values: readonly number[], weights: readonly number[]): number {
  const pull = (center: number) =>
    weightedMean(
      values.map((value) => clamp(value - center, -HUBER_DISTANCE, HUBER_DISTANCE)),
      weights,
    ) ?? 0;
  const starts = bisect([0, 1], BISECTION_STEPS, (center) => pull(center) > PULL_TOLERANCE);
  const ends = bisect([0, 1], BISECTION_STEPS, (center) => pull(center) >= -PULL_TOLERANCE);
  return sumOf([...starts, ...ends]) / 4;
}
