import type { PricePoint } from "../../domain/trade.ts";
import { HOUR_MS } from "../../lib/durations.ts";
import { assertNotNegative, assertPositive, assertProbability } from "../assert.ts";
import { priceLogOdds } from "../log-odds.ts";

export interface PriceShiftLimits {
  /** Minimum absolute move of the price, above 0. */
  readonly minMove: number;
  /** Minimum move of the log-odds, in standard deviations of the market's hourly moves; above 0. */
  readonly minSigmas: number;
  /** Lower bound of the standard deviation, in log-odds, above 0. */
  readonly sigmaFloor: number;
  /** Minimum hours of history for a standard deviation, at least 1. */
  readonly minHours: number;
}

/** An earlier alert of the same market. Prices in [0, 1]. */
export interface PriceShiftAlert {
  /** Unix milliseconds. */
  readonly at: number;
  readonly oldPrice: number;
  readonly newPrice: number;
}

/**
 * Returns the standard deviation of the hourly moves of a market's log-odds: sigma^2 = sum(w r^2) / sum(w). A move r
 * over n hours is one squared move with the weight of n hours: the other n - 1 hours had no change. The weight of an
 * hour halves with every `halfLifeHours` between it and the last close. The mean of the moves is taken as 0.
 *
 * @param closes  oldest first, at whole hours; hours without a close are hours without a change
 * @param halfLifeHours  above 0
 * @param minHours  minimum number of hours from the first to the last close; the result is null below it
 * @returns  in log-odds, at least 0; null if it is unknown
 * @throws RangeError when a price is outside [0, 1], a close is not at least an hour after the previous one, or a
 *   parameter is outside its range
 * @see J.P. Morgan (1996), "RiskMetrics Technical Document", section 5.2 (exponentially weighted moving average)
 * @example hourlySigma([{ at: 0, yesPrice: 0.5 }, { at: 3_600_000, yesPrice: 0.75 }], 48, 1); // 1.0986 = ln 3
 */
export function hourlySigma(closes: readonly PricePoint[], halfLifeHours: number, minHours: number): number | null {
  assertPositive(halfLifeHours, "halfLifeHours");
  assertNotNegative(minHours, "minHours");
  const decay = 0.5 ** (1 / halfLifeHours);
  let squares = 0;
  let weight = 0;
  let hours = 0;
  let previous: { readonly at: number; readonly odds: number } | null = null;
  for (const { at, yesPrice } of closes) {
    const odds = priceLogOdds(yesPrice);
    if (previous !== null) {
      const elapsed = Math.round((at - previous.at) / HOUR_MS);
      if (!(elapsed >= 1)) throw new RangeError("Each close must be at least an hour later than the one before");
      const kept = decay ** elapsed;
      squares = squares * kept + (odds - previous.odds) ** 2;
      // The weights of the hours are 1, decay, decay^2 and so on, the last hour first.
      weight = weight * kept + (1 - kept) / (1 - decay);
      hours += elapsed;
    }
    previous = { at, odds };
  }
  return hours === 0 || hours < minHours ? null : Math.sqrt(squares / weight);
}

/**
 * Returns the move between two prices in standard deviations of an hourly move: z = (L(new) - L(old)) /
 * max(sigma, sigmaFloor), with the log-odds L. Negative if the price fell.
 *
 * @param sigma  in log-odds, at least 0
 * @param sigmaFloor  in log-odds, above 0
 * @example shiftSigmas(0.5, 0.75, 0.1, 0.04); // 10.986
 */
export function shiftSigmas(oldPrice: number, newPrice: number, sigma: number, sigmaFloor: number): number {
  assertNotNegative(sigma, "sigma");
  assertPositive(sigmaFloor, "sigmaFloor");
  return (priceLogOdds(newPrice) - priceLogOdds(oldPrice)) / Math.max(sigma, sigmaFloor);
}

/**
 * Returns whether the price moved by at least `minMove`. Within an hour of the market's last alert, the price must also
 * have moved away from that alert's new price by at least the size of that alert's move.
 *
 * @param earlier  the market's last alert; null if there is none
 */
export function isLargeMove(
  oldPrice: number,
  newPrice: number,
  at: number,
  earlier: PriceShiftAlert | null,
  minMove: number,
): boolean {
  assertProbability(oldPrice, "oldPrice");
  assertProbability(newPrice, "newPrice");
  // Prices are multiples of 1e-6, and 0.55 - 0.5 is slightly less than 0.05 in double precision.
  const moved = (from: number) => Math.abs(newPrice - from) + 5e-7;
  if (moved(oldPrice) < minMove) return false;
  if (earlier === null || at - earlier.at >= HOUR_MS) return true;
  return moved(earlier.newPrice) >= Math.abs(earlier.newPrice - earlier.oldPrice);
}
