import type { TakerFee } from "../domain/market.ts";
import type { BookLevel } from "../domain/order-book.ts";
import { sumOf } from "../lib/numbers.ts";
import { takeContracts } from "../quant/book-walk.ts";
import { orderFee } from "../quant/taker-fee.ts";

export interface Sale {
  /** Number of contracts, above 0; fewer than requested if the bids are too small. */
  readonly contracts: number;
  /** Average price without the fee, in (0, 1). */
  readonly averagePrice: number;
  /** Price of the lowest bid used, in (0, 1). */
  readonly worstPrice: number;
  /** Taker fee of the whole order in USD. */
  readonly feeUsd: number;
  /** Contracts times average price, minus the fee, in USD. */
  readonly proceedsUsd: number;
}

/**
 * Sells contracts, highest bid first. The fee of the order is rounded as the venue rounds it.
 *
 * @param bids  prices and sizes for the held side, highest first
 * @param contracts  above 0
 * @returns  null without bids
 * @example sell([{ price: 0.5, size: 10 }], { kind: "none" }, 4)?.proceedsUsd; // 2
 */
export function sell(bids: readonly BookLevel[], fee: TakerFee, contracts: number): Sale | null {
  const fills = takeContracts(bids, contracts);
  const sold = sumOf(fills.map((fill) => fill.contracts));
  const worst = fills.at(-1);
  if (sold === 0 || worst === undefined) return null;
  const valueUsd = sumOf(fills.map((fill) => fill.price * fill.contracts));
  const feeUsd = orderFee(fee, fills, "sell");
  return {
    contracts: sold,
    averagePrice: valueUsd / sold,
    worstPrice: worst.price,
    feeUsd,
    proceedsUsd: valueUsd - feeUsd,
  };
}
