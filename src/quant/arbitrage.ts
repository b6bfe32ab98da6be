import type { TakerFee } from "../domain/market.ts";
import type { BookLevel } from "../domain/order-book.ts";
import { assertNotNegative, assertPositive, assertProbability } from "./assert.ts";
import { spreadTightness } from "./liquidity.ts";
import { orderFee, takerFee } from "./taker-fee.ts";

/** A profit per contract below this is a floating-point error, in USD. */
const PROFIT_MIN = 1e-9;
const DAYS_PER_YEAR = 365;
/** Capital is locked for at least a day: settlement and withdrawal take time. */
const LOCK_UP_DAYS_MIN = 1;
/** Net spread from which the spread part of the score is 100: five cents. */
const WIDE_NET_SPREAD = 0.05;
/** Powers of ten from 1 to 10,000 USD, the size from which the liquidity part of the score is 100. */
const SIZE_USD_DECADES = 4;
/** Weights of the parts of the score. They sum to 1. */
const SCORE_WEIGHTS = { spread: 0.4, liquidity: 0.2, match: 0.2, execution: 0.2 } as const;

export interface ArbitrageLeg {
  /** Offers of the side to buy, best price first. An offer of NO is a YES bid: its price is 1 minus the bid. */
  readonly offers: readonly BookLevel[];
  readonly fee: TakerFee;
}

export interface LegFill {
  /** Contracts bought from each used offer, in the order of the offers. */
  readonly contracts: readonly number[];
  /** USD paid for the contracts, without fees. */
  readonly costUsd: number;
  /** USD, rounded as the venue rounds the fee of an order. */
  readonly feeUsd: number;
  /** Mean price of a contract; null if none is bought. */
  readonly averagePrice: number | null;
}

export interface ArbitrageWalk {
  /** Contracts bought of every leg, at least 0. */
  readonly contracts: number;
  /** Cost and fees of all legs in USD. */
  readonly capitalUsd: number;
  /** Smallest payout minus the capital, in USD, at least 0. */
  readonly profitUsd: number;
  /** One per leg, in the same order. */
  readonly legs: readonly LegFill[];
}

/**
 * Profit of one contract of every leg at the given prices, after fees that are not rounded.
 *
 * net = payout - sum(price + fee(price))
 *
 * @param legs  price in [0, 1] and fee schedule of each leg
 * @param payout  smallest payout in USD of one contract of every leg, above 0
 * @returns  USD per set of contracts; 0 or less without an arbitrage
 * @example netSpread([{ price: 0.4, fee: { kind: "none" } }, { price: 0.55, fee: { kind: "none" } }], 1); // 0.05
 */
export function netSpread(legs: readonly { readonly price: number; readonly fee: TakerFee }[], payout: number): number {
  assertPositive(payout, "payout");
  return legs.reduce((net, { price, fee }) => net - price - takerFee(fee, price), payout);
}

/**
 * Buys the same number of contracts of every leg, best prices first, while one more contract of each costs less than
 * the payout, fees included. Prices rise from offer to offer, so this number of contracts is the most profitable before
 * fee rounding. If fee rounding removes the profit, nothing is bought.
 *
 * profit = payout * contracts - sum over the legs of (cost + order fee)
 *
 * @param legs  at least one; for two venues: YES on one and NO on the other
 * @param payout  smallest payout in USD of one contract of every leg, above 0: 1 for complementary contracts
 * @throws RangeError when there is no leg, or a price, a size or the payout is outside its range
 * @example
 * const fee = { kind: "none" };
 * const legs = [{ offers: [{ price: 0.4, size: 10 }], fee }, { offers: [{ price: 0.5, size: 20 }], fee }];
 * walkArbitrage(legs, 1); // 10 contracts, capital 9, profit 1
 */
export function walkArbitrage(legs: readonly ArbitrageLeg[], payout: number): ArbitrageWalk {
  if (legs.length === 0) throw new RangeError("legs must not be empty");
  const walks = legs.map((leg) => new LegWalk(leg));
  for (;;) {
    const cost = walks.reduce((sum, walk) => sum + walk.unitCost, 0);
    if (!(payout - cost > PROFIT_MIN)) break;
    const contracts = Math.min(...walks.map(({ available }) => available));
    for (const walk of walks) walk.take(contracts);
  }
  const fills = walks.map((walk) => walk.fill());
  const contracts = fills[0]?.contracts.reduce((sum, size) => sum + size, 0) ?? 0;
  const capitalUsd = fills.reduce((sum, { costUsd, feeUsd }) => sum + costUsd + feeUsd, 0);
  const profitUsd = payout * contracts - capitalUsd;
  if (profitUsd > PROFIT_MIN) return { contracts, capitalUsd, profitUsd, legs: fills };
  const nothing: LegFill = { contracts: [], costUsd: 0, feeUsd: 0, averagePrice: null };
  return { contracts: 0, capitalUsd: 0, profitUsd: 0, legs: legs.map(() => nothing) };
}

/** Position in the offers of one leg during `walkArbitrage`. */
class LegWalk {
  readonly #leg: ArbitrageLeg;
  readonly #taken: number[] = [];
  #index = 0;
  available = 0;
  /** Price and fee of the next contract; Infinity if no offers are left. */
  unitCost = Number.POSITIVE_INFINITY;

  constructor(leg: ArbitrageLeg) {
    this.#leg = leg;
    this.#open();
  }

  take(contracts: number): void {
    this.#taken[this.#index] = (this.#taken[this.#index] ?? 0) + contracts;
    this.available -= contracts;
    if (this.available > 0) return;
    this.#index += 1;
    this.#open();
  }

  fill(): LegFill {
    const fills = this.#taken.map((contracts, index) => ({ price: this.#leg.offers[index]?.price ?? 0, contracts }));
    const contracts = this.#taken.reduce((sum, size) => sum + size, 0);
    const costUsd = fills.reduce((sum, fill) => sum + fill.price * fill.contracts, 0);
    return {
      contracts: this.#taken,
      costUsd,
      feeUsd: orderFee(this.#leg.fee, fills),
      averagePrice: contracts > 0 ? costUsd / contracts : null,
    };
  }

  #open(): void {
    const offer = this.#leg.offers[this.#index];
    if (offer === undefined) {
      this.unitCost = Number.POSITIVE_INFINITY;
      return;
    }
    assertPositive(offer.size, "size");
    this.available = offer.size;
    this.unitCost = offer.price + takerFee(this.#leg.fee, offer.price);
  }
}

/**
 * Simple annual return of capital that is locked until the settlement, with Actual/365 days and without reinvestment.
 * A lock-up of less than a day counts as a day.
 *
 * return = profit / capital * 365 / max(days, 1)
 *
 * @param profitUsd  at least 0
 * @param capitalUsd  above 0
 * @param days  until the later settlement of the legs, at least 0
 * @returns  a fraction: 0.25 is 25% a year
 * @see ISDA (2006), "2006 ISDA Definitions", section 4.16(d), Actual/365 (Fixed)
 * @example annualizedReturn(2, 100, 73); // 0.02 * 5 = 0.1
 */
export function annualizedReturn(profitUsd: number, capitalUsd: number, days: number): number {
  assertNotNegative(profitUsd, "profitUsd");
  assertPositive(capitalUsd, "capitalUsd");
  assertNotNegative(days, "days");
  return ((profitUsd / capitalUsd) * DAYS_PER_YEAR) / Math.max(days, LOCK_UP_DAYS_MIN);
}

export interface ArbitrageFigures {
  /** Result of `netSpread` at the best prices. */
  readonly netSpread: number;
  /** Capital in USD that the offered contracts require, at least 0; null if unknown. */
  readonly executableUsd: number | null;
  /** Probability that the legs complement each other, in [0, 1]. */
  readonly matchConfidence: number;
  /** Widest bid-ask spread among the legs' markets, at least 0; null if a market has only a bid or only an ask. */
  readonly bidAskSpread: number | null;
  /** Age of the oldest quote divided by the maximum age, at least 0. From 1 on, the execution part is 0. */
  readonly ageShare: number;
}

export interface ArbitrageScore {
  /** In [0, 100], as are its parts. */
  readonly score: number;
  readonly spread: number;
  readonly liquidity: number;
  readonly match: number;
  readonly execution: number;
}

/**
 * Score of an arbitrage: 0.4 spread + 0.2 liquidity + 0.2 match + 0.2 execution, and 0 if the net spread is not above
 * 0. The parts:
 *
 * - spread: 100 * min(1, max(0, net spread) / 0.05)
 * - liquidity: 100 * min(1, log10(1 + executable USD) / 4); 0 if it is unknown
 * - match: 100 * match confidence
 * - execution: 100 * (1 - min(bidAskSpread, 0.10) / 0.10) * max(0, 1 - ageShare); 0 if bidAskSpread is unknown
 *
 * @example
 * const figures = { netSpread: 0.05, executableUsd: 99, matchConfidence: 0.9, bidAskSpread: 0.02, ageShare: 0.5 };
 * scoreArbitrage(figures).score;
 * // 0.4 * 100 + 0.2 * 50 + 0.2 * 90 + 0.2 * 40 = 76
 */
export function scoreArbitrage(figures: ArbitrageFigures): ArbitrageScore {
  const { netSpread: net, executableUsd, matchConfidence, bidAskSpread, ageShare } = figures;
  if (!Number.isFinite(net)) throw new RangeError(`netSpread must be finite, not ${net}`);
  assertNotNegative(executableUsd ?? 0, "executableUsd");
  assertProbability(matchConfidence, "matchConfidence");
  assertNotNegative(ageShare, "ageShare");
  const spread = 100 * Math.min(1, Math.max(0, net) / WIDE_NET_SPREAD);
  const liquidity = 100 * Math.min(1, Math.log10(1 + (executableUsd ?? 0)) / SIZE_USD_DECADES);
  const match = 100 * matchConfidence;
  const tightness = bidAskSpread === null ? 0 : spreadTightness(bidAskSpread);
  const execution = 100 * tightness * Math.max(0, 1 - ageShare);
  const weighted =
    SCORE_WEIGHTS.spread * spread +
    SCORE_WEIGHTS.liquidity * liquidity +
    SCORE_WEIGHTS.match * match +
    SCORE_WEIGHTS.execution * execution;
  return { score: net > 0 ? Math.min(100, weighted) : 0, spread, liquidity, match, execution };
}
