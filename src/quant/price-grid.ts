import { assertPositive, assertSameLength } from "./assert.ts";
import { priceLogOdds } from "./log-odds.ts";

/** Times and prices of one market, oldest first. */
export interface PriceSeries {
  /** Milliseconds since 1970, not decreasing. */
  readonly times: ArrayLike<number>;
  /** YES prices in [0, 1]. */
  readonly prices: ArrayLike<number>;
}

/** Equally spaced instants. */
export interface TimeGrid {
  /** First instant, in milliseconds since 1970. */
  readonly start: number;
  /** Time between two instants in milliseconds, above 0. */
  readonly step: number;
  /** Number of instants, at least 2. */
  readonly count: number;
}

/** Changes of a market's log-odds between the instants of a grid. */
export interface LogOddsMoves {
  /** Value k is the move from instant k to instant k + 1. Moves before `first` are unknown and stored as 0. */
  readonly values: Float64Array;
  /** Index of the first known move; equal to the number of moves if none is known. */
  readonly first: number;
}

/**
 * Samples a price series on a grid and returns the moves of its log-odds. The price at an instant is the last price at
 * or before it (previous-tick sampling), so no move uses a later price. A move is known if the price at its start is
 * known.
 *
 * Times and prices that the grid does not use are not checked.
 *
 * @throws RangeError when the lists differ in length, the times decrease, a price is outside [0, 1], or the grid has
 *   fewer than 2 instants or a step that is not above 0
 * @see Dacorogna et al. (2001), "An Introduction to High-Frequency Finance", section 2.2 (previous-tick interpolation)
 */
export function logOddsMoves({ times, prices }: PriceSeries, { start, step, count }: TimeGrid): LogOddsMoves {
  assertSameLength(times, prices, "times and prices");
  assertPositive(step, "step");
  if (!(count >= 2)) throw new RangeError(`a grid needs at least 2 instants, not ${count}`);
  const values = new Float64Array(count - 1);
  let first = count - 1;
  let next = 0;
  let previous: number | null = null;
  for (let instant = 0; instant < count; instant++) {
    const time = start + instant * step;
    const before = next;
    while (next < times.length && (times[next] ?? 0) <= time) {
      if (next > 0 && (times[next] ?? 0) < (times[next - 1] ?? 0)) throw new RangeError("times must not decrease");
      next += 1;
    }
    // An instant without a new price has the log-odds of the instant before.
    const current: number | null = next > before ? priceLogOdds(prices[next - 1] ?? Number.NaN) : previous;
    if (instant > 0 && previous !== null && current !== null) {
      first = Math.min(first, instant - 1);
      values[instant - 1] = current - previous;
    }
    previous = current;
  }
  return { values, first };
}
