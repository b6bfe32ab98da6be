import { ceilToGrid, floorToGrid, type PriceRange } from "../domain/order-rules.ts";
import { fromMicros, toMicros } from "../domain/price.ts";
import { assertPositive, assertProbability } from "./assert.ts";
import type { SpreadTrend } from "./spread-history.ts";
import type { OrderAction } from "./taker-fee.ts";

/** Distance of a limit order's price from the mid, in spreads. */
const SHIFT_BY_TREND: Readonly<Record<SpreadTrend, number>> = { tightening: -0.25, stable: 0, widening: 0.25 };

/**
 * Price of a limit order that buys or sells YES: the mid, shifted by a quarter of the spread. If the spread tightens,
 * the order can wait for a better price (a purchase: mid - spread / 4). If it widens, the order pays more to be filled
 * (a purchase: mid + spread / 4). If the trend is `stable` or unknown, it is the mid. A sale moves in the opposite
 * direction.
 *
 * A purchase is rounded down to the market's grid and is below the ask; a sale is rounded up and is above the bid. The
 * order is therefore never a taker.
 *
 * @param bid  best bid, in [0, 1]
 * @param ask  best ask, in [0, 1], above the bid
 * @param priceRanges  prices that orders for YES may have
 * @returns  in (0, 1), on the grid; null if no price of the grid lies between 0 and the target
 * @throws RangeError when a price is outside [0, 1], or the ask is not above the bid
 * @example
 * const priceRanges = [{ from: 0, to: 1, step: 0.01 }];
 * limitPrice({ bid: 0.4, ask: 0.44, priceRanges, trend: "widening", action: "buy" }); // 0.43
 */
export function limitPrice(quote: {
  readonly bid: number;
  readonly ask: number;
  readonly priceRanges: readonly PriceRange[];
  readonly trend: SpreadTrend | null;
  readonly action: OrderAction;
}): number | null {
  assertProbability(quote.bid, "bid");
  assertProbability(quote.ask, "ask");
  const [bid, ask] = [toMicros(quote.bid), toMicros(quote.ask)];
  assertPositive(ask - bid, "ask - bid");
  const shift = SHIFT_BY_TREND[quote.trend ?? "stable"] * (ask - bid);
  const middle = (bid + ask) / 2;
  if (quote.action === "sell") return ceilToGrid(quote.priceRanges, fromMicros(Math.ceil(middle - shift)));
  return floorToGrid(quote.priceRanges, fromMicros(Math.floor(middle + shift)));
}
