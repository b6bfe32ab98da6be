import { assertNotNegative } from "./assert.ts";

/** A spread of ten cents or more counts as no liquidity. */
const WIDE_SPREAD = 0.1;
/** Powers of ten from 1 to 1,000,000 USD. */
const USD_DECADES = 6;

/**
 * How tight a bid-ask spread is: 1 for no spread, 0 for 0.10 or more, linear in between.
 *
 * tightness = 1 - min(spread, 0.10) / 0.10
 *
 * @param spread  ask minus bid in price units, at least 0
 * @returns  in [0, 1]
 * @example spreadTightness(0.02); // 0.8
 */
export function spreadTightness(spread: number): number {
  assertNotNegative(spread, "spread");
  return 1 - Math.min(spread, WIDE_SPREAD) / WIDE_SPREAD;
}

/**
 * An amount on a logarithmic scale: 0 for nothing, 0.5 for about $1,000, 1 for $1,000,000 or more.
 *
 * scale = min(1, log10(1 + usd) / 6)
 *
 * @param usd  at least 0
 * @returns  in [0, 1]
 * @example usdScale(999); // 0.5
 */
export function usdScale(usd: number): number {
  assertNotNegative(usd, "usd");
  return Math.min(1, Math.log10(1 + usd) / USD_DECADES);
}

/**
 * Liquidity of a market from its spread and its volume.
 *
 * score = 50 (1 - min(spread, 0.10) / 0.10) + 50 min(1, log10(1 + volume) / 6)
 *
 * @param spread  ask minus bid in price units, at least 0
 * @param volume24hUsd  USD traded in 24 hours, at least 0
 * @returns  in [0, 100]
 * @example liquidityScore(0.02, 999); // 40 + 25 = 65
 */
export function liquidityScore(spread: number, volume24hUsd: number): number {
  return 50 * spreadTightness(spread) + 50 * usdScale(volume24hUsd);
}
