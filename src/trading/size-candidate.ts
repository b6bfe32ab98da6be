import { EDGE_MIN, formatOrderPrice } from "../engine/index.ts";
import { bisect } from "../lib/numbers.ts";
import { edgeShrinkage, kellyFraction, positionShare } from "../quant/kelly.ts";
import { buy, buyForUsd, buyWithinBudget } from "./fill.ts";
import type { Fill, SizeCap, SizingOptions, TradeCandidate } from "./model.ts";

const ROOT_STEPS = 60;

export interface CandidateSize {
  /** Share of the bankroll, in (0, 1]. */
  readonly sizePct: number;
  readonly cappedBy: SizeCap | null;
  /** The order for the share, rounded down to the contract step. */
  readonly fill: Fill;
}

/**
 * Returns a candidate's share of the bankroll and its order, or a sentence with the reason for no order. The order uses
 * only offers with the required edge, so it can be smaller than the Kelly size.
 */
export function sizeCandidate(candidate: TradeCandidate, sizing: SizingOptions): CandidateSize | string {
  const { bankrollUsd, kellyShare, positionMax } = sizing;
  const { probability, variance, offers, takerFee: fee, contractStep } = candidate;
  const shareAt = (usd: number): number => {
    const { averageCost } = buyForUsd(offers, fee, usd);
    if (averageCost >= 1) return 0;
    return positionShare({ probability, variance, cost: averageCost }, { kellyShare, positionMax });
  };
  const maxUsd = positionMax * bankrollUsd;
  const offeredUsd = buyForUsd(offers, fee, maxUsd).spentUsd;
  const usd = solveSize(shareAt, bankrollUsd, offeredUsd);
  const cappedBy = usd < offeredUsd ? null : offeredUsd < maxUsd ? "depth" : "max_position";
  const fill = buyWithinBudget(offers, fee, usd, contractStep);
  if (fill === null || fill.contracts < candidate.minOrderContracts)
    return describeTooSmall(candidate, usd, bankrollUsd);
  if (probability - fill.costUsd / fill.contracts < EDGE_MIN)
    return "The fee of an order of this size, which the venue rounds up, leaves no edge.";
  return { sizePct: Math.min(positionMax, usd / bankrollUsd), cappedBy, fill };
}

/**
 * Returns the largest amount x in USD, at most `maxUsd`, with x <= share(x) * bankroll. The share does not increase
 * with x, because later offers cost more.
 */
function solveSize(shareAt: (usd: number) => number, bankrollUsd: number, maxUsd: number): number {
  const isWithinShare = (usd: number) => usd <= shareAt(usd) * bankrollUsd;
  if (isWithinShare(maxUsd)) return maxUsd;
  return bisect([0, maxUsd], ROOT_STEPS, isWithinShare)[0];
}

/**
 * Returns the shaded probability c + kelly share * shrinkage * (p - c), for the cost c. Its full Kelly fraction equals
 * the fractional Kelly size at p. Portfolio sizing uses this probability.
 *
 * @returns  in [0, 1]; the cost without an edge
 */
export function shadedProbability(
  { probability, variance }: Pick<TradeCandidate, "probability" | "variance">,
  cost: number,
  kellyShare: number,
): number {
  if (kellyFraction(probability, cost) === 0) return cost;
  const edge = probability - cost;
  return cost + kellyShare * edgeShrinkage(edge, variance) * edge;
}

function describeTooSmall(candidate: TradeCandidate, usd: number, bankrollUsd: number): string {
  const { offers, takerFee: fee, minOrderContracts, targetPrice } = candidate;
  const offered = offers.reduce((sum, { size }) => sum + size, 0);
  const minimum = formatContracts(minOrderContracts);
  if (offered < minOrderContracts)
    return `The smallest order of this market is ${minimum}, and ${formatContracts(offered)} are offered at ${formatOrderPrice(targetPrice)} or less.`;
  const smallest = buy(offers, fee, minOrderContracts);
  const costs = smallest === null ? "" : `, which costs ${formatUsd(smallest.costUsd)}`;
  return `The size of ${formatUsd(usd)}, for a bankroll of ${formatUsd(bankrollUsd)}, is less than the smallest order of ${minimum}${costs}.`;
}

const formatUsd = (usd: number): string => `$${usd.toFixed(2)}`;

function formatContracts(contracts: number): string {
  return `${Number(contracts.toFixed(6))} ${contracts === 1 ? "contract" : "contracts"}`;
}
