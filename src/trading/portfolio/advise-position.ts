import type { TakerFee } from "../../domain/market.ts";
import type { BookLevel } from "../../domain/order-book.ts";
import { floorToContractStep, type SizeRules, smallestOrder } from "../../domain/order-rules.ts";
import { EDGE_MIN, formatPercent, formatPrice } from "../../engine/index.ts";
import { kellyFraction } from "../../quant/kelly.ts";
import { takerFee } from "../../quant/taker-fee.ts";
import { type Sale, sell } from "../sale.ts";

export const POSITION_ACTIONS = ["keep", "reduce", "close", "hedge"] as const;
export type PositionAction = (typeof POSITION_ACTIONS)[number];

/** An offer of the opposite side of a held position, in another market with the same question. */
export interface OppositeOffer {
  /** Price and fee per contract, in (0, 1). */
  readonly cost: number;
  /** Contracts that can be bought at this cost, above 0 and at most the number held. */
  readonly contracts: number;
}

/** A held position and all inputs of the advice. Prices are those of the held side. */
export interface AdvisedPosition extends SizeRules {
  /** Contracts held, above 0. */
  readonly contracts: number;
  /** Estimated probability that the side wins, in (0, 1); null without a current estimate. */
  readonly probability: number | null;
  /** Current bids, highest first; null if unknown. */
  readonly bids: readonly BookLevel[] | null;
  /** Null if unknown. */
  readonly takerFee: TakerFee | null;
  /** The cheapest opposite offer; null if there is none. */
  readonly opposite: OppositeOffer | null;
  readonly bankrollUsd: number;
  /** Largest share of the bankroll in one position, in (0, 1]. */
  readonly positionMax: number;
}

export interface PositionAdvice {
  readonly action: PositionAction;
  /** Reason for the advice, in one sentence. */
  readonly reason: string;
  /** Contracts to sell, or to buy of the opposite side; 0 with `keep`. */
  readonly contracts: number;
  /**
   * With `reduce` and `close`: the sale of `contracts`. Otherwise: a sale of the whole position, or of as much as the
   * current bids buy. Null without bids.
   */
  readonly sale: Sale | null;
}

/**
 * Advises what to do with a held position.
 *
 * - close, reduce: contracts are sold if a sale pays at least 0.01 more, after the fee, than their estimated payout:
 *   the whole position, or as much as the bids buy.
 * - hedge: buys the opposite side in another market, so that both contracts together pay 1. Advised if 1 minus the cost
 *   of the opposite is at least 0.01 above the contract's estimated payout, and above the proceeds of a sale.
 * - reduce: a position above the largest share of the bankroll, and above the Kelly fraction at the price at which it
 *   can be sold, is reduced to the larger of the two.
 * - keep: none of the above, or the estimate is unknown.
 */
export function advisePosition(position: AdvisedPosition): PositionAdvice {
  const { contracts, probability, bids, takerFee: fee, opposite } = position;
  const canSell = bids !== null && fee !== null;
  const whole = canSell ? sell(bids, fee, contracts) : null;
  const keep = (reason: string): PositionAdvice => ({ action: "keep", reason, contracts: 0, sale: whole });
  if (probability === null) return keep("There is no current estimate of this market.");
  const wins = `The side wins with probability ${formatPercent(probability)}%`;
  const sold = canSell ? saleAbove(position, bids, fee, probability + EDGE_MIN) : null;
  const saved = opposite === null ? 0 : 1 - opposite.cost;
  if (opposite !== null && saved >= probability + EDGE_MIN && saved > (sold === null ? 0 : netPriceOf(sold)))
    return {
      action: "hedge",
      reason: `${wins}, and its opposite costs ${formatPrice(opposite.cost)} with the fee in another market: the pair pays 100¢.`,
      contracts: opposite.contracts,
      sale: whole,
    };
  if (sold !== null) {
    const isAll = contracts - sold.contracts < smallestOrder(position);
    const reason = `${wins}, and a sale pays ${formatPrice(netPriceOf(sold))} after the fee.`;
    return { action: isAll ? "close" : "reduce", reason, contracts: sold.contracts, sale: sold };
  }
  const excess = canSell && whole !== null ? saleOfExcess(position, bids, fee, probability) : null;
  if (excess === null) return keep(`${wins}. ${whole === null ? "No sale is known" : "No sale pays more"}.`);
  const limit = formatPercent(position.positionMax);
  return {
    action: "reduce",
    reason: `${wins}. The position is above ${limit}% of the bankroll and above its Kelly fraction.`,
    contracts: excess.contracts,
    sale: excess,
  };
}

const netPriceOf = ({ proceedsUsd, contracts }: Sale): number => proceedsUsd / contracts;

/** Sells to the bids that pay at least `priceMin` after the fee; null if they buy less than the smallest order. */
function saleAbove(
  position: AdvisedPosition,
  bids: readonly BookLevel[],
  fee: TakerFee,
  priceMin: number,
): Sale | null {
  const wanted = bids.filter(({ price }) => price - takerFee(fee, price) >= priceMin - Number.EPSILON);
  const offered = wanted.reduce((sum, { size }) => sum + size, 0);
  const sale = sellWithRules(position, wanted, fee, Math.min(position.contracts, offered));
  // The fee of a small order, which the venue rounds up, can exceed the gain.
  return sale === null || netPriceOf(sale) < priceMin - Number.EPSILON ? null : sale;
}

/** Sells the part of the position above the larger of its maximum and its Kelly fraction; null if there is none. */
function saleOfExcess(
  position: AdvisedPosition,
  bids: readonly BookLevel[],
  fee: TakerFee,
  probability: number,
): Sale | null {
  const { contracts, bankrollUsd, positionMax } = position;
  const best = bids[0];
  const price = best === undefined ? 0 : best.price - takerFee(fee, best.price);
  if (!(price > 0)) return null;
  const target = Math.max(positionMax, kellyFraction(probability, price));
  const excess = contracts - (target * bankrollUsd) / price;
  const offered = bids.reduce((sum, { size }) => sum + size, 0);
  return excess > 0 ? sellWithRules(position, bids, fee, Math.min(excess, offered)) : null;
}

/** Sells contracts, rounded down to the contract step; null below the smallest order. */
function sellWithRules(rules: SizeRules, bids: readonly BookLevel[], fee: TakerFee, contracts: number): Sale | null {
  const rounded = floorToContractStep(rules, contracts);
  return rounded >= smallestOrder(rules) ? sell(bids, fee, rounded) : null;
}
