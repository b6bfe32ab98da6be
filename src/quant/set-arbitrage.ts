import type { Quote, TakerFee } from "../domain/market.ts";
import { assertProbability } from "./assert.ts";
import { takerFee } from "./taker-fee.ts";

/** Markets of which an arbitrage buys one contract each, and the guaranteed payout. */
export interface SetPurchase {
  /** Indexes of the markets, in ascending order. One contract of each is bought. */
  readonly markets: readonly number[];
  /** Guaranteed payout of these contracts together, in USD. */
  readonly payout: number;
}

/**
 * NO contracts of n markets of an exclusive set: at most one market resolves YES, so at least n - 1 contracts pay 1.
 * The set need not be exhaustive. A market adds `bid - fee` to the net spread, so a market is left out unless this is
 * above 0.
 *
 * A NO contract costs 1 - bid plus the fee at that price. Net spread = guaranteed payout - cost:
 * (n - 1) - sum(1 - bid + fee(1 - bid)) = sum(bid - fee(1 - bid)) - 1
 *
 * @param markets  best YES bid, in [0, 1] or null without a bid, and fee schedule of each market
 * @returns  null if fewer than two markets are worth buying
 * @example
 * const fee = { kind: "none" };
 * chooseNoContracts([{ bid: 0.6, fee }, { bid: null, fee }, { bid: 0.5, fee }]); // { markets: [0, 2], payout: 1 }
 */
export function chooseNoContracts(
  markets: readonly { readonly bid: number | null; readonly fee: TakerFee }[],
): SetPurchase | null {
  const chosen = markets.flatMap(({ bid, fee }, index) => {
    if (bid === null) return [];
    assertProbability(bid, "bid");
    return bid - takerFee(fee, 1 - bid) > 0 ? [index] : [];
  });
  return chosen.length < 2 ? null : { markets: chosen, payout: chosen.length - 1 };
}

/**
 * Violations of a ladder, in which each market implies all earlier ones, such as "above 3%" after "above 2%", or "by
 * May" after "by June". YES of the wider market and NO of a narrower market together pay at least 1, and 2 if only the
 * wider market resolves YES. Each market is paired with its cheapest wider market.
 *
 * spread = bid of the narrower market - ask of the wider market
 *
 * @param rungs  best YES bid and ask, in [0, 1], from the widest to the narrowest market
 * @returns  indexes of pairs with a spread above 0, in the order of the narrower markets
 * @example findLadderViolations([{ bid: 0.4, ask: 0.42 }, { bid: 0.5, ask: 0.52 }]); // [{ wide: 0, narrow: 1 }]
 */
export function findLadderViolations(
  rungs: readonly Pick<Quote, "bid" | "ask">[],
): { readonly wide: number; readonly narrow: number }[] {
  const violations: { wide: number; narrow: number }[] = [];
  let wide: { index: number; ask: number } | null = null;
  for (const [index, { bid, ask }] of rungs.entries()) {
    for (const price of [bid, ask]) if (price !== null) assertProbability(price, "price");
    if (wide !== null && bid !== null && bid > wide.ask) violations.push({ wide: wide.index, narrow: index });
    if (ask !== null && (wide === null || ask < wide.ask)) wide = { index, ask };
  }
  return violations;
}
