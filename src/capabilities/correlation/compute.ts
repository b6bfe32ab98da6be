import type { WorkerModule } from "../../ports/worker-pool.ts";
import {
  correlationClusters,
  type PairCorrelation,
  pairCorrelations,
  relationshipOf,
} from "../../quant/correlation.ts";
import { logOddsMoves } from "../../quant/price-grid.ts";
import { CLUSTER_CORRELATION_MIN, type CorrelationTask, WARNING_CORRELATION_MIN } from "./model.ts";

/**
 * Computes the correlations of all pairs of markets and returns the body of the response as JSON. The body of 500 markets
 * has 124,750 pairs, so it is encoded where it is computed.
 */
export function encodeCorrelation(task: CorrelationTask): Uint8Array<ArrayBuffer> {
  const { marketIds, platform, period, grid, series, generatedAt } = task;
  const idOf = (index: number): string => marketIds[index] ?? "";
  const moves = series.map((prices) => logOddsMoves(prices, grid));
  const pairs = pairCorrelations(moves);
  const clusters = correlationClusters(marketIds.length, pairs, CLUSTER_CORRELATION_MIN);
  const body = {
    market_ids: marketIds,
    platform,
    period,
    pairs: pairs.map(({ a, b, correlation, dataPoints }) => ({
      market_a: idOf(a),
      market_b: idOf(b),
      correlation,
      data_points: dataPoints,
      relationship: relationshipOf(correlation),
    })),
    clusters: clusters.map((indexes) => indexes.map(idOf)),
    concentration_warnings: pairs.flatMap((pair) => describeConcentration(pair, idOf, period) ?? []),
    generated_at: new Date(generatedAt).toISOString(),
  };
  return new TextEncoder().encode(JSON.stringify(body));
}

/** Returns a sentence about a pair that moves together; null for any other pair. */
function describeConcentration(
  { a, b, correlation, dataPoints }: PairCorrelation,
  idOf: (index: number) => string,
  period: string,
): string | null {
  if (correlation === null || correlation < WARNING_CORRELATION_MIN) return null;
  // Rounded down, so that no coefficient is shown as larger than it is.
  const shown = (Math.floor(correlation * 100) / 100).toFixed(2);
  return `${idOf(a)} and ${idOf(b)} move together: correlation ${shown} over ${period} (${dataPoints} data points). Positions on the same side of both add up to one larger position.`;
}

/** Entry point of the worker threads (`ports/worker-pool.ts`). */
export const runTask: WorkerModule<CorrelationTask, Uint8Array<ArrayBuffer>>["runTask"] = (task) => {
  const result = encodeCorrelation(task);
  return { result, transfer: [result.buffer] };
};
