import { roundDecimals } from "../../lib/round-numbers.ts";
import type { WorkerModule } from "../../ports/worker-pool.ts";
import { correlationClusters, type PairCorrelation, relationshipOf } from "../../quant/correlation.ts";
import { logOddsMoves } from "../../quant/price-grid.ts";
import { type StableCorrelation, stableCorrelations } from "../../quant/stable-correlation.ts";
import { CLUSTER_CORRELATION_MIN, type CorrelationTask, HORIZONS, WARNING_CORRELATION_MIN } from "./model.ts";

/**
 * Computes the correlations of all pairs of markets and returns the body of the response as JSON. The body of 500 markets
 * has 124,750 pairs, so it is encoded where it is computed.
 */
export function encodeCorrelation(task: CorrelationTask): Uint8Array<ArrayBuffer> {
  const { marketIds, platform, period, grid, series, generatedAt } = task;
  const idOf = (index: number): string => marketIds[index] ?? "";
  const moves = series.map((prices) => logOddsMoves(prices, grid));
  const pairs = tieMatches(stableCorrelations(moves, HORIZONS[period]), task);
  const clusters = correlationClusters(marketIds.length, pairs, CLUSTER_CORRELATION_MIN);
  const body = {
    market_ids: marketIds,
    platform,
    period,
    pairs: choosePairs(pairs, task).map(({ a, b, correlation, dataPoints, basis, horizon }) => ({
      market_a: idOf(a),
      market_b: idOf(b),
      correlation: correlation === null ? null : roundDecimals(correlation),
      data_points: dataPoints,
      relationship: relationshipOf(correlation),
      basis,
      horizon_seconds: horizon === null ? null : (horizon * grid.step) / 1000,
    })),
    clusters: clusters.map((indexes) => indexes.map(idOf)),
    concentration_warnings: pairs.flatMap((pair) => describeConcentration(pair, idOf, period) ?? []),
    generated_at: new Date(generatedAt).toISOString(),
  };
  return new TextEncoder().encode(JSON.stringify(body));
}

/** A pair whose coefficient follows from logic, because both markets ask the same question, or from moves. */
interface BasedPair extends PairCorrelation {
  readonly basis: "logic" | "moves";
  /** Steps over which the moves were compared; null without a coefficient and for a pair tied by logic. */
  readonly horizon: number | null;
}

function tieMatches(pairs: readonly StableCorrelation[], { matches, marketIds }: CorrelationTask): BasedPair[] {
  const keyOf = (a: number, b: number): number => a * marketIds.length + b;
  const matched = new Map(matches.map(({ a, b, correlation }) => [keyOf(a, b), correlation]));
  return pairs.map(({ a, b, correlation, dataPoints, horizon }) => {
    const logical = matched.get(keyOf(a, b));
    if (logical !== undefined) return { a, b, correlation: logical, dataPoints, basis: "logic", horizon: null };
    return { a, b, correlation, dataPoints, basis: "moves", horizon: correlation === null ? null : horizon };
  });
}

function choosePairs(
  pairs: readonly BasedPair[],
  { minCorrelation, limit }: Pick<CorrelationTask, "minCorrelation" | "limit">,
): readonly BasedPair[] {
  const strengthOf = ({ correlation }: BasedPair): number => (correlation === null ? -1 : Math.abs(correlation));
  const strong = minCorrelation === null ? pairs : pairs.filter((pair) => strengthOf(pair) >= minCorrelation);
  return limit === null ? strong : strong.toSorted((x, y) => strengthOf(y) - strengthOf(x)).slice(0, limit);
}

/** Returns a sentence about a pair that moves together or asks the same question; null for any other pair. */
function describeConcentration(
  { a, b, correlation, dataPoints, basis }: BasedPair,
  idOf: (index: number) => string,
  period: string,
): string | null {
  if (correlation === null) return null;
  const names = `${idOf(a)} and ${idOf(b)}`;
  if (basis === "logic") {
    const [asks, side] =
      correlation > 0 ? ["the same question", "the same side"] : ["opposite questions", "opposite sides"];
    return `${names} ask ${asks}, with a confidence of ${round(Math.abs(correlation))}. Positions on ${side} of both are one larger position.`;
  }
  if (correlation < WARNING_CORRELATION_MIN) return null;
  return `${names} move together: correlation ${round(correlation)} over ${period} (${dataPoints} data points). Positions on the same side of both add up to one larger position.`;
}

/** Rounded down, so that no coefficient is shown as larger than it is. */
const round = (value: number): string => (Math.floor(value * 100) / 100).toFixed(2);

/** Entry point of the worker threads (`ports/worker-pool.ts`). */
export const runTask: WorkerModule<CorrelationTask, Uint8Array<ArrayBuffer>>["runTask"] = (task) => {
  const result = encodeCorrelation(task);
  return { result, transfer: [result.buffer] };
};
