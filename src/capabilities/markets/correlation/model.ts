import type { PriceSeries, SeriesPeriod } from "../../../storage/index.ts";

export const CORRELATION_PERIODS = ["48h", "7d", "30d"] as const satisfies readonly SeriesPeriod[];
export type CorrelationPeriod = (typeof CORRELATION_PERIODS)[number];

export const MARKETS_MIN = 2;
export const MARKETS_MAX = 500;

/** Markets that correlate more than this are in one cluster. */
export const CLUSTER_CORRELATION_MIN = 0.5;
/** Pairs that correlate at least this much get a warning. */
export const WARNING_CORRELATION_MIN = 0.7;

/** Two markets that ask the same question, or opposite ones. Their dependence follows from logic, not from moves. */
export interface MatchedPair {
  readonly a: number;
  readonly b: number;
  /** The confidence of the match, negative for opposite questions: the expected correlation of the answers. */
  readonly correlation: number;
}

/** Horizons at which moves are compared, in steps of the grid: of an hour, or of 15 minutes over 48 hours. */
export const HORIZONS: Readonly<Record<CorrelationPeriod, readonly number[]>> = {
  "48h": [1, 4, 16, 32],
  "7d": [1, 4, 8, 24],
  "30d": [1, 4, 8, 24],
};

/** The input of one computation. It can be cloned, because large ones run on a worker thread. */
export interface CorrelationTask extends PriceSeries {
  /** As the caller named them, in the order of `series`. */
  readonly marketIds: readonly string[];
  /** The common venue; null if there are several. */
  readonly platform: string | null;
  readonly period: CorrelationPeriod;
  /** Pairs of markets that ask the same question, by index; `a` is below `b`. */
  readonly matches: readonly MatchedPair[];
  /** Pairs with a smaller absolute coefficient are left out; null for all pairs. */
  readonly minCorrelation: number | null;
  /** Number of pairs to return, strongest first; null for all, in the order of the markets. */
  readonly limit: number | null;
  /** Unix milliseconds. */
  readonly generatedAt: number;
}
