import type { TakerFee } from "../domain/market.ts";
import { orderFee } from "../quant/taker-fee.ts";
import type { Offer } from "./model.ts";

/** Tolerance for a floating-point error in a number of contracts. */
const CONTRACT_TOLERANCE = 1e-9;

/** A sale of contracts to bids. */
export interface Sale {
  /** Number of contracts, above 0; fewer than wanted if the bids are not enough. */
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
export function sell(bids: readonly Offer[], fee: TakerFee, contracts: number): Sale | null {
  const fills: { price: number; contracts: number }[] = [];
  let rest = contracts;
  for (const { price, size } of bids) {
    if (rest <= CONTRACT_TOLERANCE) break;
    const sold = Math.min(rest, size);
    fills.push({ price, contracts: sold });
    rest -= sold;
  }
  const sold = fills.reduce((sum, fill) => sum + fill.contracts, 0);
  const worst = fills.at(-1);
  if (sold === 0 || worst === undefined) return null;
  const valueUsd = fills.reduce((sum, fill) => sum + fill.price * fill.contracts, 0);
  const feeUsd = orderFee(fee, fills, "sell");
  return {
    contracts: sold,
    averagePrice: valueUsd / sold,
    worstPrice: worst.price,
    feeUsd,
    proceedsUsd: valueUsd - feeUsd,
  };
}
