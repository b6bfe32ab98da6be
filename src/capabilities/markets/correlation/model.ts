import type { HistoryPeriod, PriceSeries } from "../../../storage/index.ts";

export const CORRELATION_PERIODS = ["48h", "7d", "30d"] as const satisfies readonly HistoryPeriod[];
export type CorrelationPeriod = (typeof CORRELATION_PERIODS)[number];

export const CORRELATED_MARKETS_MIN = 2;
export const CORRELATED_MARKETS_MAX = 500;

/** Markets with a correlation above this are in the same cluster. */
export const CLUSTER_CORRELATION_MIN = 0.5;
/** Minimum correlation of a pair for a concentration warning. */
export const WARNING_CORRELATION_MIN = 0.7;

/** Two markets with the same or opposite questions. Their correlation follows from the match. */
export interface MatchedPair {
  readonly a: number;
  readonly b: number;
  /** The confidence of the match, negative for opposite questions: the expected correlation of the outcomes. */
  readonly correlation: number;
}

/** Horizons at which moves are compared, in grid steps. A step is 15 minutes for 48 hours, else an hour. */
export const CORRELATION_HORIZONS: Readonly<Record<CorrelationPeriod, readonly number[]>> = {
  "48h": [1, 4, 16, 32],
  "7d": [1, 4, 8, 24],
  "30d": [1, 4, 8, 24],
};

/** The input of one computation. Cloneable, because large computations run on a worker thread. */
export interface CorrelationTask extends PriceSeries {
  /** Market ids as in the request, in the order of `series`. */
  readonly marketIds: readonly string[];
  /** The venue, if all markets have the same; else null. */
  readonly platform: string | null;
  readonly period: CorrelationPeriod;
  /** Pairs of markets that ask the same or the opposite question, by index; `a` is below `b`. */
  readonly matches: readonly MatchedPair[];
  /** Minimum absolute coefficient of returned pairs; null for all pairs. */
  readonly minCorrelation: number | null;
  /** Maximum number of returned pairs, strongest first; null for all pairs in the order of the markets. */
  readonly limit: number | null;
  /** Unix milliseconds. */
  readonly generatedAt: number;
}
