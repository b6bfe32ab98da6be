import { DAY_MS, HOUR_MS } from "../lib/durations.ts";
import { toLogOdds } from "./log-odds.ts";
import type { MarketView } from "./model.ts";

/** Only moves of the last week are used. */
const LOOK_BACK_MS = 7 * DAY_MS;
/** A daily move compares two prices that are 21 to 27 hours apart. */
const EARLIER_HOURS = { min: 21, max: 27 } as const;
const MOVES_MIN = 5;
/**
 * Root mean square daily move of a typical market, in log-odds. In the resolved questions of the fit it was 0.26 for
 * 31,056 moves to prices in [0.05, 0.95], and 0.36 for 35,961 moves to prices in [0.02, 0.98]; this value is between
 * the two. Log-odds of prices nearer to 0 and 1 move much more.
 */
const TYPICAL_MOVE = 0.32;
const MOVE_MAX = 2;

/**
 * Root mean square of the price's 24-hour moves in the last week, in log-odds. With fewer than five moves, 0.32, the
 * value of a typical market.
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
