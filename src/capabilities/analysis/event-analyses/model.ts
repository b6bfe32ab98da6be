import type { BoardMarket } from "../../../board/index.ts";

/** Maximum number of markets in an event analysis: those with the largest volume. */
export const EVENT_ANALYSIS_MARKETS_MAX = 20;
/** Tolerance of a sum of probabilities: estimates of single markets need not sum to exactly 1. */
const SUM_TOLERANCE = 0.05;

/** Whether a market can have an estimate that is compared with others: it trades and has a price. */
export const isOpenAndPriced = ({ listing, yesPrice }: BoardMarket): boolean =>
  listing.status === "active" && yesPrice !== null;

/** The open markets of an event, largest 24-hour volume first. */
export function listOpenMarkets(markets: readonly BoardMarket[]): BoardMarket[] {
  const volumeOf = ({ activity }: BoardMarket) => activity.volume24hUsd ?? 0;
  return markets.filter(isOpenAndPriced).sort((a, b) => volumeOf(b) - volumeOf(a));
}

/**
 * Whether the estimates of an event are consistent: exclusive outcomes sum to at most 1, and to 1 if they are
 * exhaustive, each within 0.05. Null if the sum is unknown or the outcomes do not exclude each other.
 */
export function isSumConsistent(
  sum: number | null,
  { isExclusive, isExhaustive }: { readonly isExclusive: boolean; readonly isExhaustive: boolean },
): boolean | null {
  if (sum === null || !isExclusive) return null;
  return sum <= 1 + SUM_TOLERANCE && (!isExhaustive || sum >= 1 - SUM_TOLERANCE);
}
