import { DAY_MS, HOUR_MS } from "../lib/durations.ts";
import { toLogOdds } from "./log-odds.ts";
import type { MarketView } from "./model.ts";

/** Only moves of the last week are used. */
const LOOK_BACK_MS = 7 * DAY_MS;
/** A daily move compares two prices this many hours apart. */
const EARLIER_HOURS = { min: 21, max: 27 } as const;
const MOVES_MIN = 5;
/**
 * Root mean squares measured on the resolved questions that the engine is fitted to: 0.26 for 31,056 daily moves to
 * prices in [0.05, 0.95], and 0.36 for 35,961 to prices in [0.02, 0.98]. This value is between them. Prices nearer to 0
 * and 1 move much more.
 */
const TYPICAL_MOVE = 0.32;
const MOVE_MAX = 2;

/**
 * Daily move of the price in log-odds: the root mean square of the moves over about 24 hours in the last week. With
 * fewer than five moves, the typical move of all markets, 0.32.
 *
 * @returns  in [0, 2]
 */
export function dailyMove({ prices, asOf }: Pick<MarketView, "prices" | "asOf">): number {
  const recent = prices.filter(({ at }) => at >= asOf - LOOK_BACK_MS - DAY_MS);
  let squares = 0;
  let moves = 0;
  let earlier = 0;
  for (const { at, yesPrice } of recent) {
    while ((recent[earlier]?.at ?? at) < at - EARLIER_HOURS.max * HOUR_MS) earlier += 1;
    const before = recent[earlier];
    if (before === undefined || before.at > at - EARLIER_HOURS.min * HOUR_MS) continue;
    squares += (toLogOdds(yesPrice) - toLogOdds(before.yesPrice)) ** 2;
    moves += 1;
  }
  return Math.min(MOVE_MAX, moves < MOVES_MIN ? TYPICAL_MOVE : Math.sqrt(squares / moves));
}
