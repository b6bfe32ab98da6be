/** Health and metrics of this process. */
import type { FastifyInstance } from "fastify";
import type { Analyses } from "../analysis/analyses/index.ts";
import type { AreaPorts, Pipeline } from "../area-ports.ts";
import type { EventsArea } from "../events/index.ts";
import type { Matching } from "../markets/matching/index.ts";
import { createHealthReport, createStoreProbe, healthRoutes } from "./health/index.ts";
import { createMetrics, type MetricsSources, openMetricsServer } from "./metrics/index.ts";

export interface OperationsPorts extends AreaPorts {
  /** Prometheus metrics on a separate server, on the API server behind a token, or both; null disables them. */
  readonly metrics: { readonly hasOwnPort: boolean; readonly token: string | null } | null;
  /** Milliseconds from the start of the process until the end of each step of the start. Steps are added as the start proceeds. */
  readonly startTimeline?: ReadonlyMap<string, number>;
}

interface OperationsSources
  extends Pick<Pipeline, "board" | "ingest">,
    Pick<MetricsSources, "alerts" | "failingJobs" | "payments" | "connections"> {
  readonly analyses: Analyses;
  readonly events: Pick<EventsArea, "figures">;
  /** Null on a node that does not match markets. */
  readonly matching: Matching | null;
}

export function createOperationsArea(ports: OperationsPorts, sources: OperationsSources) {
  const { board, ingest, analyses, events, matching, failingJobs } = sources;
  const probe = createStoreProbe(ports);
  const health = createHealthReport({ ...ports, probe, ingest, matching, failingJobs });
  const isStoreUp = () => probe.isUp;
  const metrics =
    ports.metrics === null
      ? null
      : createMetrics({
          ...ports,
          ...sources,
          ...events.figures,
          isStoreUp,
          venues: () => ingest.health(),
          store: () => ingest.counters,
          boardMarkets: () => board.size,
          ingestRestarts: () => ingest.thread?.restarts ?? null,
          matching: () => matching?.report ?? null,
          runQueue: analyses.readQueue,
        });
  return {
    health,
    /** Null if metrics are disabled. */
    metrics,
    registerHealthRoutes: (http: FastifyInstance) => healthRoutes(http, { report: health, isStoreUp }),
    /** Registers the route of the metrics, and starts their server; returns null without a separate port. */
    openMetricsServer: (http: FastifyInstance) => openMetricsServer(http, ports, metrics),
    start: () => probe.start(),
    stop: () => probe.stop(),
  };
}
