import type { BookLevel } from "../domain/order-book.ts";
import { assertPositive } from "./assert.ts";
import type { PriceFill } from "./taker-fee.ts";

/** Tolerance for a floating-point error in a number of contracts. */
const CONTRACT_TOLERANCE = 1e-9;

/** The trades of a market order. */
export interface BookWalk {
  /** Number of contracts, at least 0. */
  readonly contracts: number;
  /** Mean price of a contract; null if the side is empty. */
  readonly averagePrice: number | null;
  /** Whether the side filled the whole order. */
  readonly isComplete: boolean;
}

/**
 * Walks one side of an order book with a market order: trades at the best price first until the contracts are worth
 * `valueUsd` or the side is empty. Fees are not included.
 *
 * @param levels  best first: the asks for a buy order, the bids for a sell order
 * @param valueUsd  USD that a buyer spends or a seller receives, above 0
 * @example walkBook([{ price: 0.5, size: 100 }, { price: 0.6, size: 100 }], 80).averagePrice; // 80 / 150 = 0.5333
 */
export function walkBook(levels: readonly BookLevel[], valueUsd: number): BookWalk {
  assertPositive(valueUsd, "valueUsd");
  let contracts = 0;
  let costUsd = 0;
  let isComplete = false;
  for (const { price, size } of levels) {
    assertPositive(price, "price");
    assertPositive(size, "size");
    const restUsd = valueUsd - costUsd;
    isComplete = price * size >= restUsd;
    contracts += isComplete ? restUsd / price : size;
    costUsd = isComplete ? valueUsd : costUsd + price * size;
    if (isComplete) break;
  }
  return { contracts, averagePrice: contracts > 0 ? costUsd / contracts : null, isComplete };
}

/**
 * Slippage of a market order: how far its mean price is from the best price of the side, in percent of the best price.
 * Half of the spread is not included.
 *
 * slippage = 100 * |average price - best price| / best price
 *
 * @param levels, valueUsd  as for `walkBook`
 * @returns  percent, at least 0; null if the side cannot fill the whole order
 * @example slippagePercent([{ price: 0.5, size: 100 }, { price: 0.6, size: 100 }], 80); // 6.667
 */
export function slippagePercent(levels: readonly BookLevel[], valueUsd: number): number | null {
  const { averagePrice, isComplete } = walkBook(levels, valueUsd);
  const best = levels[0]?.price ?? null;
  if (!isComplete || averagePrice === null || best === null) return null;
  // A mean price can be below the best price by a floating-point error of about 1e-16.
  return Math.max(0, (100 * Math.abs(averagePrice - best)) / best);
}

/**
 * Trades a number of contracts, best price first.
 *
 * @param levels  best first
 * @param contracts  may be fractional
 * @returns  contracts traded per price; their sum is below `contracts` if the side is too small
 * @example takeContracts([{ price: 0.5, size: 3 }, { price: 0.6, size: 9 }], 4);
 * // [{ price: 0.5, contracts: 3 }, { price: 0.6, contracts: 1 }]
 */
export function takeContracts(levels: readonly BookLevel[], contracts: number): PriceFill[] {
  const fills: PriceFill[] = [];
  let rest = contracts;
  for (const { price, size } of levels) {
    if (!(rest > CONTRACT_TOLERANCE)) break;
    fills.push({ price, contracts: Math.min(rest, size) });
    rest -= size;
  }
  return fills;
}
