import type { TakerFee } from "../domain/market.ts";
import { assertPositive } from "../quant/assert.ts";
import { orderFee } from "../quant/taker-fee.ts";
import type { Fill, Offer } from "./model.ts";

/**
 * Buys offers for an amount, best price first. The fee is paid on top of the amount, rounded as the venue rounds it. The
 * number of contracts can be fractional.
 *
 * @param offers  of the side to buy, best first
 * @param valueUsd  above 0
 * @returns  null if the offers are not worth the amount
 * @throws RangeError when the amount, a price or a size is not above 0, or a price is not below 1
 * @example
 * // 50 contracts at 0.4 and 20 at 0.5.
 * fillPaperOrder([{ price: 0.4, size: 50 }, { price: 0.5, size: 80 }], { kind: "none" }, 30)?.contracts; // 70
 */
export function fillPaperOrder(offers: readonly Offer[], fee: TakerFee, valueUsd: number): Fill | null {
  assertPositive(valueUsd, "valueUsd");
  const fills: { readonly price: number; readonly contracts: number }[] = [];
  let restUsd = valueUsd;
  for (const { price, size } of offers) {
    assertPositive(price, "price");
    assertPositive(size, "size");
    if (price >= 1) throw new RangeError(`price must be below 1, not ${price}`);
    const isEnough = price * size >= restUsd;
    fills.push({ price, contracts: isEnough ? restUsd / price : size });
    restUsd = isEnough ? 0 : restUsd - price * size;
    if (isEnough) break;
  }
  if (restUsd > 0) return null;
  const contracts = fills.reduce((sum, fill) => sum + fill.contracts, 0);
  const feeUsd = orderFee(fee, fills);
  return { contracts, averagePrice: valueUsd / contracts, feeUsd, costUsd: valueUsd + feeUsd };
}
