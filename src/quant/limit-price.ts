import { fromMicros, toMicros } from "../domain/price.ts";
import { assertPositive, assertProbability } from "./assert.ts";
import type { SpreadTrend } from "./spread-history.ts";

/** Where the price of a limit order lies: distance from the mid in spreads. */
const SHIFT_BY_TREND: Readonly<Record<SpreadTrend, number>> = { tightening: -0.25, stable: 0, widening: 0.25 };

/**
 * Price of a limit order that buys YES: the mid moved by a quarter of the spread. If the spread tightens, the order can
 * wait for a better price (mid - spread / 4). If it widens, the order bids more to be filled (mid + spread / 4). If the
 * trend is `stable` or unknown, it is the mid.
 *
 * The price is rounded down to the tick. It is below the ask, so the order never takes.
 *
 * @param bid  best bid, in [0, 1]
 * @param ask  best ask, in [0, 1], above the bid
 * @param tick  smallest price step, above 0
 * @returns  in (0, 1), a multiple of the tick; null if no multiple lies between 0 and the target
 * @throws RangeError when a price is outside [0, 1], the ask is not above the bid, or the tick is not above 0
 * @example limitPrice({ bid: 0.4, ask: 0.44, tick: 0.01, trend: "widening" }); // 0.43
 */
export function limitPrice(quote: {
  readonly bid: number;
  readonly ask: number;
  readonly tick: number;
  readonly trend: SpreadTrend | null;
}): number | null {
  assertProbability(quote.bid, "bid");
  assertProbability(quote.ask, "ask");
  const [bid, ask, tick] = [toMicros(quote.bid), toMicros(quote.ask), toMicros(quote.tick)];
  assertPositive(ask - bid, "ask - bid");
  assertPositive(tick, "tick");
  const target = (bid + ask) / 2 + SHIFT_BY_TREND[quote.trend ?? "stable"] * (ask - bid);
  const ticks = Math.floor(target / tick);
  return ticks > 0 ? fromMicros(ticks * tick) : null;
}
