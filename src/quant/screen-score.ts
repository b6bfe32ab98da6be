import { assertNotNegative } from "./assert.ts";
import { spreadTightness, usdScale } from "./liquidity.ts";

/** Weights of the parts of `screenScore`. They sum to 1. */
export const SCREEN_WEIGHTS = { volume: 0.25, liquidity: 0.15, spread: 0.25, time: 0.2, movement: 0.15 } as const;

/** Price change in 24 hours from which the movement part is 1: ten cents. */
const LARGE_MOVE = 0.1;
/** Hours until the resolution at which the time part is one half: 30 days. */
const HALF_TIME_HOURS = 720;

/** The figures of a market that a screen scores; null if unknown. */
export interface ScreenFigures {
  /** USD traded in 24 hours, at least 0. */
  readonly volume24hUsd: number | null;
  /** USD, as the venue defines liquidity, at least 0. */
  readonly liquidityUsd: number | null;
  /** Ask minus bid in price units, at least 0. */
  readonly spread: number | null;
  /** Price minus the price 24 hours ago, in [-1, 1]. */
  readonly priceChange24h: number | null;
}

/**
 * Time part of the screening score, which favours an early return of the capital. It rises from 0 to 1 in the last hour
 * before the resolution, because there is too little time to trade, and falls to one half at 30 days.
 *
 * time = min(1, hours) * 720 / (720 + hours)
 *
 * @param hours  until the resolution; 0 or less if it is due
 * @returns  in [0, 1)
 * @example resolutionTimeScore(720); // 0.5
 */
export function resolutionTimeScore(hours: number): number {
  if (Number.isNaN(hours)) throw new RangeError("hours must be a number");
  return hours <= 0 || hours === Infinity ? 0 : (Math.min(1, hours) * HALF_TIME_HOURS) / (HALF_TIME_HOURS + hours);
}

/**
 * The parts of the screening score that do not depend on the time: 0.25 volume + 0.15 liquidity + 0.25 spread + 0.15
 * movement. An unknown figure adds nothing.
 *
 * - volume, liquidity: min(1, log10(1 + USD) / 6)
 * - spread: 1 - min(spread, 0.10) / 0.10
 * - movement: min(1, |price change in 24 hours| / 0.10)
 *
 * @returns  in [0, 0.8]
 * @example timeIndependentScreenScore({ volume24hUsd: 999, liquidityUsd: null, spread: 0.02, priceChange24h: 0.05 });
 *   // 0.4
 */
export function timeIndependentScreenScore(figures: ScreenFigures): number {
  const { volume24hUsd, liquidityUsd, spread, priceChange24h } = figures;
  const move = Math.abs(priceChange24h ?? 0);
  assertNotNegative(move, "|priceChange24h|");
  return (
    SCREEN_WEIGHTS.volume * usdScale(volume24hUsd ?? 0) +
    SCREEN_WEIGHTS.liquidity * usdScale(liquidityUsd ?? 0) +
    SCREEN_WEIGHTS.spread * (spread === null ? 0 : spreadTightness(spread)) +
    SCREEN_WEIGHTS.movement * Math.min(1, move / LARGE_MOVE)
  );
}

/**
 * Screening score of a market: `timeIndependentScreenScore` + 0.20 `resolutionTimeScore`.
 *
 * @param timelessScore  result of `timeIndependentScreenScore`
 * @param hoursToResolution  null if unknown, which adds nothing
 * @returns  in [0, 1)
 * @example screenScore(0.4, 720); // 0.4 + 0.2 * 0.5 = 0.5
 */
export function screenScore(timelessScore: number, hoursToResolution: number | null): number {
  const time = hoursToResolution === null ? 0 : resolutionTimeScore(hoursToResolution);
  return timelessScore + SCREEN_WEIGHTS.time * time;
}
