import type { PriceSeries, SeriesPeriod } from "../../storage/index.ts";

export const CORRELATION_PERIODS = ["48h", "7d", "30d"] as const satisfies readonly SeriesPeriod[];
export type CorrelationPeriod = (typeof CORRELATION_PERIODS)[number];

export const MARKETS_MIN = 2;
export const MARKETS_MAX = 500;

/** Markets that correlate more than this are in one cluster. */
export const CLUSTER_CORRELATION_MIN = 0.5;
/** Pairs that correlate at least this much get a warning. */
export const WARNING_CORRELATION_MIN = 0.7;

/** The input of one computation. It can be cloned, because large ones run on a worker thread. */
export interface CorrelationTask extends PriceSeries {
  /** As the caller named them, in the order of `series`. */
  readonly marketIds: readonly string[];
  /** The common venue; null if there are several. */
  readonly platform: string | null;
  readonly period: CorrelationPeriod;
  /** Unix milliseconds. */
  readonly generatedAt: number;
}
