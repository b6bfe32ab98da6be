import type { WorkerModule } from "../../../ports/worker-pool.ts";
import { correlationClusters } from "../../../quant/correlation.ts";
import { logOddsMoves } from "../../../quant/price-grid.ts";
import { type StableCorrelation, stableCorrelations } from "../../../quant/stable-correlation.ts";
import {
  CLUSTER_CORRELATION_MIN,
  CORRELATION_HORIZONS,
  type CorrelationTask,
  WARNING_CORRELATION_MIN,
} from "./model.ts";
import { buffersOf, type CorrelationReport, createPairTable, type ReportedPair, roundCoefficient } from "./report.ts";

/**
 * Computes the correlations of all pairs of markets. Relationships, clusters, warnings and `minCorrelation` use the
 * rounded coefficients, so that they are consistent with the response. The order of the strongest pairs uses the exact
 * coefficients.
 */
export function computeReport(task: CorrelationTask): CorrelationReport {
  const { marketIds, platform, period, grid, series, generatedAt } = task;
  const moves = series.map((prices) => logOddsMoves(prices, grid));
  const pairs = tieMatches(stableCorrelations(moves, CORRELATION_HORIZONS[period]), task);
  return {
    marketIds,
    platform,
    period,
    stepMs: grid.step,
    pairs: createPairTable(choosePairs(pairs, task)),
    warned: createPairTable(pairs.filter(needsWarning)),
    clusters: correlationClusters(marketIds.length, pairs, CLUSTER_CORRELATION_MIN),
    generatedAt,
  };
}

interface BasedPair extends ReportedPair {
  /** The absolute coefficient before it is rounded; -1 without a coefficient. */
  readonly strength: number;
}

/** Sets the coefficients of markets with the same or opposite questions from the match, and rounds all coefficients. */
function tieMatches(pairs: readonly StableCorrelation[], { matches, marketIds }: CorrelationTask): BasedPair[] {
  const keyOf = (a: number, b: number): number => a * marketIds.length + b;
  const matched = new Map(matches.map(({ a, b, correlation }) => [keyOf(a, b), correlation]));
  return pairs.map(({ a, b, correlation: measured, dataPoints, horizon }) => {
    const logical = matched.get(keyOf(a, b));
    const exact = logical ?? measured;
    return {
      a,
      b,
      correlation: exact === null ? null : roundCoefficient(exact),
      strength: exact === null ? -1 : Math.abs(exact),
      dataPoints,
      basis: logical === undefined ? "moves" : "logic",
      horizon: logical !== undefined || measured === null ? null : horizon,
    };
  });
}

function choosePairs(
  pairs: readonly BasedPair[],
  { minCorrelation, limit }: Pick<CorrelationTask, "minCorrelation" | "limit">,
): readonly BasedPair[] {
  const isStrong = ({ correlation }: BasedPair): boolean =>
    minCorrelation === null || (correlation !== null && Math.abs(correlation) >= minCorrelation);
  const strong = pairs.filter(isStrong);
  return limit === null ? strong : strong.toSorted((x, y) => y.strength - x.strength).slice(0, limit);
}

const needsWarning = ({ correlation, basis }: ReportedPair): boolean =>
  correlation !== null && (basis === "logic" || correlation >= WARNING_CORRELATION_MIN);

/** Entry point of the worker threads (`ports/worker-pool.ts`). */
export const runTask: WorkerModule<CorrelationTask, CorrelationReport>["runTask"] = (task) => {
  const result = computeReport(task);
  return { result, transfer: buffersOf(result) };
};
