import type { AppPorts } from "./app-ports.ts";
import type { MarketBoard } from "./board/index.ts";
import type { Analyses } from "./capabilities/analyses/index.ts";
import type { MarketAlerts } from "./capabilities/market-alerts/index.ts";
import type { Matching } from "./capabilities/matching/index.ts";
import { createMetrics, type Metrics, type MetricsSources } from "./capabilities/metrics/index.ts";
import type { Ingest } from "./ingest/index.ts";

/** Creates the metrics of this process; null if they are disabled. */
export function buildMetrics(
  { metrics, version, data }: AppPorts,
  parts: Pick<MetricsSources, "isStoreUp" | "failingJobs" | "payments" | "connections" | "streams" | "webhooks"> & {
    readonly board: MarketBoard;
    readonly ingest: Ingest;
    readonly analyses: Analyses;
    readonly detectors: MarketAlerts;
    /** Null on a node that does not match markets. */
    readonly matching: Matching | null;
  },
): Metrics | null {
  if (metrics === null) return null;
  const { board, ingest, analyses, detectors, matching, ...sources } = parts;
  return createMetrics({
    ...sources,
    version,
    data,
    venues: () => ingest.health(),
    store: () => ingest.counters,
    boardMarkets: () => board.size,
    matching: () => matching?.report ?? null,
    alerts: () => detectors.figures,
    runQueue: analyses.readQueue,
  });
}
