import type { TakerFee } from "../domain/market.ts";
import type { BookLevel } from "../domain/order-book.ts";
import { floorToContractStep, type SizeRules, smallestOrder } from "../domain/order-rules.ts";
import { walkBook } from "../quant/book-walk.ts";
import { buy } from "./fill.ts";
import type { Fill } from "./model.ts";

/**
 * - filled: the executed order.
 * - unavailable: the total value of the offers is below the amount.
 * - too_small: the amount buys less than the smallest order. `smallest` is the smallest order; null if the offers are
 *   too small for it.
 */
export type PaperOrderResult =
  | { readonly kind: "filled"; readonly fill: Fill }
  | { readonly kind: "unavailable" }
  | { readonly kind: "too_small"; readonly smallest: Fill | null };

/**
 * Buys offers for an amount, best price first, by the venue's order rules. The contracts are rounded down to the
 * contract step, so the order can cost less than the amount. An order below the venue's minimum is rejected. The fee is
 * added to the amount and rounded as the venue rounds it.
 *
 * @param offers  of the side to buy, best first
 * @param valueUsd  above 0
 * @throws RangeError when the amount, a price or a size is not above 0
 * @example
 * // 50 contracts at 0.4 and 20 at 0.5; the remaining 0.2 USD do not pay for a whole contract.
 * const rules = { contractStep: 1, minOrderContracts: null };
 * fillPaperOrder([{ price: 0.4, size: 50 }, { price: 0.5, size: 80 }], { kind: "none" }, 30.2, rules);
 */
export function fillPaperOrder(
  offers: readonly BookLevel[],
  fee: TakerFee,
  valueUsd: number,
  rules: SizeRules,
): PaperOrderResult {
  const walk = walkBook(offers, valueUsd);
  const contracts = floorToContractStep(rules, walk.contracts);
  const minimum = smallestOrder(rules);
  if (walk.isComplete && contracts < minimum) return { kind: "too_small", smallest: buy(offers, fee, minimum) };
  const fill = walk.isComplete ? buy(offers, fee, contracts) : null;
  return fill === null ? { kind: "unavailable" } : { kind: "filled", fill };
}
