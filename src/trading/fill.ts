import type { TakerFee } from "../domain/market.ts";
import type { BookLevel } from "../domain/order-book.ts";
import { fromMicros, toMicros } from "../domain/price.ts";
import { largestInteger, sumOf } from "../lib/numbers.ts";
import { takeContracts } from "../quant/book-walk.ts";
import { orderFee, takerFee } from "../quant/taker-fee.ts";
import type { Fill } from "./model.ts";

/** Tolerances for floating-point errors in a number of contracts and in an amount in USD. */
const CONTRACT_TOLERANCE = 1e-9;
const USD_TOLERANCE = 1e-9;

/** Result of spending an amount in USD. The number of contracts is not rounded. */
export interface Purchase {
  readonly contracts: number;
  /** USD spent, fees included; less than the amount if the offers are too small. */
  readonly spentUsd: number;
  /** USD per contract, fee included. For an amount of 0: the cost at the best offer. */
  readonly averageCost: number;
  /** Whether the whole amount was spent. */
  readonly isComplete: boolean;
}

/**
 * Buys offers for an amount that includes the fees. Fees are not rounded.
 *
 * @param offers  best first, at least one
 * @param usd  at least 0
 * @throws RangeError without an offer
 * @example buyForUsd([{ price: 0.5, size: 10 }], { kind: "none" }, 2).contracts; // 4
 */
export function buyForUsd(offers: readonly BookLevel[], fee: TakerFee, usd: number): Purchase {
  const [best] = offers;
  if (best === undefined) throw new RangeError("there must be an offer");
  let contracts = 0;
  let spentUsd = 0;
  for (const { price, size } of offers) {
    const cost = price + takerFee(fee, price);
    const bought = Math.min(size, (usd - spentUsd) / cost);
    contracts += bought;
    spentUsd += bought * cost;
    // The last offer gets the whole remaining amount, so spentUsd is exactly usd despite floating-point errors.
    if (bought < size)
      return { contracts, spentUsd: usd, averageCost: costOf(best, fee, contracts, usd), isComplete: true };
  }
  const averageCost = costOf(best, fee, contracts, spentUsd);
  return { contracts, spentUsd, averageCost, isComplete: spentUsd >= usd };
}

const costOf = ({ price }: BookLevel, fee: TakerFee, contracts: number, usd: number): number =>
  contracts > 0 ? usd / contracts : price + takerFee(fee, price);

/**
 * Buys a number of contracts, best offer first. The fee of the order is rounded as the venue rounds it.
 *
 * @param contracts  may be fractional
 * @returns  null if `contracts` is not above 0 or the offers are too small
 * @example
 * buy([{ price: 0.5, size: 10 }], { kind: "none" }, 4);
 * // { contracts: 4, averagePrice: 0.5, feeUsd: 0, costUsd: 2 }
 */
export function buy(offers: readonly BookLevel[], fee: TakerFee, contracts: number): Fill | null {
  if (!(contracts > 0)) return null;
  const fills = takeContracts(offers, contracts);
  const bought = sumOf(fills.map((fill) => fill.contracts));
  if (bought < contracts - CONTRACT_TOLERANCE) return null;
  const valueUsd = sumOf(fills.map((fill) => fill.price * fill.contracts));
  const feeUsd = orderFee(fee, fills);
  // A floating-point error must not raise the average above the worst price: clients use that price as a limit.
  const averagePrice = Math.min(valueUsd / contracts, fills.at(-1)?.price ?? 1);
  return { contracts, averagePrice, feeUsd, costUsd: valueUsd + feeUsd };
}

/**
 * Buys as many contracts as an amount pays for, rounded down to the contract step. The order fee is rounded as the
 * venue rounds it.
 *
 * @param offers  best first, at least one
 * @param usd  at least 0
 * @param contractStep  above 0
 * @returns  null for less than one step
 * @throws RangeError without an offer
 * @example buyWithinBudget([{ price: 0.5, size: 10 }], { kind: "none" }, 2.3, 1)?.contracts; // 4
 */
export function buyWithinBudget(
  offers: readonly BookLevel[],
  fee: TakerFee,
  usd: number,
  contractStep: number,
): Fill | null {
  const step = Math.max(1, toMicros(contractStep));
  const buySteps = (steps: number) => buy(offers, fee, fromMicros(steps * step));
  const steps = Math.floor(toMicros(1) * ((buyForUsd(offers, fee, usd).contracts + CONTRACT_TOLERANCE) / step));
  const isAffordable = (count: number) => (buySteps(count)?.costUsd ?? 0) <= usd + USD_TOLERANCE;
  if (isAffordable(steps)) return buySteps(steps);
  // Fee rounding makes the order exceed the amount. The cost rises with the contracts, so a binary search finds the
  // largest order.
  return buySteps(largestInteger(0, steps, isAffordable));
}
