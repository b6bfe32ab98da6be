import type { BoardEvent, BoardMarket, SetGap } from "../../../board/index.ts";
import type { CurrentAnalysis } from "../analyses/index.ts";

/** An event analysis analyses this many markets at most: those with the largest volume. */
export const MARKETS_MAX = 20;
/** Tolerance of a sum of probabilities: estimates of single markets need not sum to exactly 1. */
const SUM_TOLERANCE = 0.05;

/** A market of an event and its latest analysis at the current price. */
export interface AnalysedMarket {
  readonly market: BoardMarket;
  /** Null if the market has not been analysed. */
  readonly stored: CurrentAnalysis | null;
}

export interface EventAnalysis {
  readonly event: BoardEvent;
  readonly markets: readonly AnalysedMarket[];
  /** Unix milliseconds. */
  readonly generatedAt: number;
}

/** The estimates of an event's outcomes, side by side. */
export interface ProbabilityMap {
  readonly event: BoardEvent;
  readonly outcomes: readonly { readonly market: BoardMarket; readonly probability: number | null }[];
  /** Sum of the estimates; null if an outcome has none. */
  readonly sum: number | null;
  /** Whether the sum is possible for the event; null if the sum is unknown, or any sum is possible. */
  readonly isValid: boolean | null;
  /** Why the outcomes do not cover every possibility; null if they do. */
  readonly setGap: SetGap | null;
  /** Unix milliseconds. */
  readonly generatedAt: number;
}

/** Whether a market can have an estimate that is compared with others: it trades and has a price. */
export const isOpen = ({ listing, yesPrice }: BoardMarket): boolean => listing.status === "active" && yesPrice !== null;

/** The open markets of an event, largest 24-hour volume first. */
export function listOpenMarkets(markets: readonly BoardMarket[]): BoardMarket[] {
  const volumeOf = ({ activity }: BoardMarket) => activity.volume24hUsd ?? 0;
  return markets.filter(isOpen).sort((a, b) => volumeOf(b) - volumeOf(a));
}

/**
 * Whether estimates can be those of one event: outcomes that exclude each other sum to at most 1, and to 1 if they cover
 * everything, each within 0.05. Null if the sum is unknown or the outcomes do not exclude each other.
 */
export function isSumPossible(
  sum: number | null,
  { isExclusive, isExhaustive }: { readonly isExclusive: boolean; readonly isExhaustive: boolean },
): boolean | null {
  if (sum === null || !isExclusive) return null;
  return sum <= 1 + SUM_TOLERANCE && (!isExhaustive || sum >= 1 - SUM_TOLERANCE);
}
