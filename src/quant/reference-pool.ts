import { sigmoid } from "../lib/numbers.ts";
import { assertProbability } from "./assert.ts";
import { usdScale } from "./liquidity.ts";
import { priceLogOdds } from "./log-odds.ts";
import { weightedMean } from "./weighted.ts";

/** Weight of a real-money market without known liquidity and volume. */
const MONEY_WEIGHT_MIN = 0.1;
/** Weight of every play-money market: half of the minimum weight of a real-money market. */
const PLAY_MONEY_WEIGHT = 0.05;

/** Price of a market that asks the same or the opposite question as the market to be priced. */
export interface ReferenceQuote {
  /** In [0, 1]. */
  readonly yesPrice: number;
  /** True if YES of this market is NO of the market to be priced. */
  readonly isInverse: boolean;
  readonly isPlayMoney: boolean;
  /** At least 0; null if unknown. Ignored for play money. */
  readonly liquidityUsd: number | null;
  /** At least 0; null if unknown. Ignored for play money. */
  readonly volume24hUsd: number | null;
}

export interface ReferencePrice {
  /** In [0.005, 0.995], the range of `priceLogOdds`. */
  readonly probability: number;
  /** Sum of the weights of the quotes, above 0 and at most 1 per market. A larger sum means more information. */
  readonly weight: number;
  readonly markets: number;
}

/**
 * Pools the prices of matched markets into one probability: logarithmic opinion pool with normalised weights.
 *
 * L = sum of w_i L_i / sum of w_i, p = 1 / (1 + exp(-L)), with L_i = priceLogOdds(price), or -priceLogOdds(price) for
 * an inverse market. w_i = 0.1 + 0.9 usdScale(usd_i) for real money, where usd_i is the larger of liquidity and 24-hour
 * volume, 0 if both are unknown; w_i = 0.05 for play money.
 *
 * @returns  null without quotes
 * @throws RangeError when a price is outside [0, 1], or an amount of a real-money market is negative or not finite
 * @see Genest & Zidek (1986), "Combining Probability Distributions", Statistical Science 1(1)
 * @example
 * referencePool([{ yesPrice: 0.25, isInverse: true, isPlayMoney: true, liquidityUsd: null, volume24hUsd: null }]);
 * // { probability: 0.75, weight: 0.05, markets: 1 }
 */
export function referencePool(quotes: readonly ReferenceQuote[]): ReferencePrice | null {
  const weights = quotes.map(weightOf);
  const pooled = weightedMean(quotes.map(logOddsOf), weights);
  if (pooled === null) return null;
  return {
    probability: sigmoid(pooled),
    weight: weights.reduce((sum, weight) => sum + weight, 0),
    markets: quotes.length,
  };
}

function logOddsOf({ yesPrice, isInverse }: ReferenceQuote): number {
  assertProbability(yesPrice, "yesPrice");
  return isInverse ? -priceLogOdds(yesPrice) : priceLogOdds(yesPrice);
}

function weightOf({ isPlayMoney, liquidityUsd, volume24hUsd }: ReferenceQuote): number {
  if (isPlayMoney) return PLAY_MONEY_WEIGHT;
  const scale = Math.max(usdScale(liquidityUsd ?? 0), usdScale(volume24hUsd ?? 0));
  return MONEY_WEIGHT_MIN + (1 - MONEY_WEIGHT_MIN) * scale;
}
