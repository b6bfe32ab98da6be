import { assertNotNegative, assertPositive, assertProbability } from "./assert.ts";

/**
 * Kelly fraction of a contract that pays 1 and is bought at the all-in cost c: the share of the bankroll that maximises
 * the expected logarithm of wealth, f* = (p - c) / (1 - c), and 0 without an edge.
 *
 * @param probability  p, probability that the contract pays, in [0, 1]
 * @param cost  c, price and fee per contract, in (0, 1)
 * @returns  in [0, 1]
 * @see Kelly (1956), "A New Interpretation of Information Rate", Bell System Technical Journal 35(4)
 * @example kellyFraction(0.6, 0.5); // 0.2
 */
export function kellyFraction(probability: number, cost: number): number {
  assertProbability(probability, "probability");
  if (!(cost > 0 && cost < 1)) throw new RangeError(`cost must be in (0, 1), not ${cost}`);
  return Math.max(0, (probability - cost) / (1 - cost));
}

/**
 * Factor that reduces a bet with an uncertain edge: e^2 / (e^2 + v), for the edge e = p - c and the variance v of the
 * estimated probability.
 *
 * @param edge  probability minus cost, in [-1, 1]
 * @param variance  at least 0
 * @returns  in [0, 1]; 0 without an edge
 * @see Baker & McHale (2013), "Optimal Betting Under Parameter Uncertainty", Decision Analysis 10(3)
 * @example edgeShrinkage(0.1, 0.01); // 0.5
 */
export function edgeShrinkage(edge: number, variance: number): number {
  if (!(edge >= -1 && edge <= 1)) throw new RangeError(`edge must be in [-1, 1], not ${edge}`);
  assertNotNegative(variance, "variance");
  return edge === 0 ? 0 : edge ** 2 / (edge ** 2 + variance);
}

export interface EstimatedBet {
  /** Estimated probability that the contract pays, in [0, 1]. */
  readonly probability: number;
  /** Variance of the estimate, at least 0. */
  readonly variance: number;
  /** Price and fee per contract, in (0, 1). */
  readonly cost: number;
}

/**
 * Share of the bankroll for a bet: the Kelly fraction, times the applied share, times the shrinkage for the uncertainty
 * of the estimate, at most `positionMax`.
 *
 * @param kellyShare  in [0, 1]
 * @param positionMax  in (0, 1]
 * @example
 * const bet = { probability: 0.6, variance: 0.01, cost: 0.5 };
 * positionShare(bet, { kellyShare: 0.25, positionMax: 0.1 }); // 0.25 * 0.5 * 0.2 = 0.025
 */
export function positionShare(
  { probability, variance, cost }: EstimatedBet,
  { kellyShare, positionMax }: { readonly kellyShare: number; readonly positionMax: number },
): number {
  assertProbability(kellyShare, "kellyShare");
  assertPositive(positionMax, "positionMax");
  assertProbability(positionMax, "positionMax");
  const fraction = kellyFraction(probability, cost);
  return Math.min(positionMax, kellyShare * edgeShrinkage(probability - cost, variance) * fraction);
}
