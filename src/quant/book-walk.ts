import { assertPositive } from "./assert.ts";

interface Level {
  /** Price of one contract in USD, above 0. */
  readonly price: number;
  /** Number of contracts, above 0. */
  readonly size: number;
}

/** The trades of a market order. */
export interface BookWalk {
  /** Number of contracts, at least 0. */
  readonly contracts: number;
  /** Value of the contracts in USD, at least 0: what a buyer pays or a seller receives. */
  readonly costUsd: number;
  /** Mean price of a contract; null if the side is empty. */
  readonly averagePrice: number | null;
  /** Price of the last level used; null if the side is empty. */
  readonly worstPrice: number | null;
  /** Whether the side had enough for the whole order. */
  readonly isComplete: boolean;
}

/**
 * Walks one side of an order book with a market order: trades at the best price first until the contracts are worth
 * `valueUsd` or the side is empty. Fees are not included.
 *
 * @param levels  best first: the asks for a buy order, the bids for a sell order
 * @param valueUsd  USD that a buyer spends or a seller receives, above 0
 * @throws RangeError when the value, a price or a size is not above 0
 * @example walkBook([{ price: 0.5, size: 100 }, { price: 0.6, size: 100 }], 80).averagePrice; // 80 / 150 = 0.5333
 */
export function walkBook(levels: readonly Level[], valueUsd: number): BookWalk {
  assertPositive(valueUsd, "valueUsd");
  let contracts = 0;
  let costUsd = 0;
  let worstPrice: number | null = null;
  let isComplete = false;
  for (const { price, size } of levels) {
    assertPositive(price, "price");
    assertPositive(size, "size");
    const restUsd = valueUsd - costUsd;
    worstPrice = price;
    isComplete = price * size >= restUsd;
    contracts += isComplete ? restUsd / price : size;
    costUsd = isComplete ? valueUsd : costUsd + price * size;
    if (isComplete) break;
  }
  return { contracts, costUsd, averagePrice: contracts > 0 ? costUsd / contracts : null, worstPrice, isComplete };
}

/**
 * Slippage of a market order: how far its mean price is from the best price of the side, in percent of the best price.
 * Half of the spread is not included.
 *
 * slippage = 100 * |average price - best price| / best price
 *
 * @param levels, valueUsd  as for `walkBook`
 * @returns  percent, at least 0; null if the side cannot fill the whole order
 * @throws RangeError when the value, a price or a size is not above 0
 * @example slippagePercent([{ price: 0.5, size: 100 }, { price: 0.6, size: 100 }], 80); // 6.667
 */
export function slippagePercent(levels: readonly Level[], valueUsd: number): number | null {
  const { averagePrice, isComplete } = walkBook(levels, valueUsd);
  const best = levels[0]?.price ?? null;
  if (!isComplete || averagePrice === null || best === null) return null;
  // The subtraction of two nearly equal prices leaves an error of some 1e-16.
  return Math.max(0, (100 * Math.abs(averagePrice - best)) / best);
}
