import type { FastifyInstance } from "fastify";
import type { MarketBoard } from "../board/index.ts";
import type { Customers } from "../capabilities/accounts/customers/index.ts";
import type { AccountsPorts } from "../capabilities/accounts/index.ts";
import type { Metering } from "../capabilities/accounts/metering/index.ts";
import type { Analyses } from "../capabilities/analysis/analyses/index.ts";
import type { AnalysisPorts } from "../capabilities/analysis/index.ts";
import type { EventsPorts } from "../capabilities/events/index.ts";
import type { MarketsPorts } from "../capabilities/markets/index.ts";
import type { Matching } from "../capabilities/markets/matching/index.ts";
import type { OperationsPorts } from "../capabilities/operations/index.ts";
import type { Trading } from "../capabilities/strategy/index.ts";
import type { ConnectionMaxima } from "../http/connection-limits.ts";
import type { Ingest } from "../ingest/index.ts";
import type { RetentionDays } from "../storage/index.ts";

/** The dependencies and settings that production, tests and development define differently. */
export interface AppPorts extends AccountsPorts, MarketsPorts, EventsPorts, AnalysisPorts, OperationsPorts {
  readonly trustProxy: readonly string[] | null;
  /** Origins whose scripts may use the API; none by default. */
  readonly corsOrigins?: readonly string[];
  /** Limits of connections; omitted fields have the defaults of the HTTP server. */
  readonly connections?: Partial<ConnectionMaxima>;
  /** Retention of stored data in days; omitted fields have defaults. */
  readonly retention?: Partial<RetentionDays>;
  /** Size of the embedded store's folder above which the oldest data is deleted early; null or omitted: unlimited. */
  readonly storeBytesMax?: number | null;
  /** Days after which events are deleted. */
  readonly eventDays: number;
}

export interface App {
  readonly http: FastifyInstance;
  /** Serves only /metrics; null without a separate metrics port. */
  readonly metricsHttp: FastifyInstance | null;
  readonly ingest: Ingest;
  readonly board: MarketBoard;
  /** The caller must start metering before the server listens. */
  readonly metering: Metering;
  readonly customers: Customers;
  readonly analyses: Analyses;
  /** Called by `App.start` and `App.stop`, and by tests. */
  readonly trading: Pick<Trading, "book" | "start" | "stop">;
  /** Null on a node that neither serves the API nor runs analyses. */
  readonly matching: Matching | null;
  start(): void;
  /** Stops reading venues, writes queued data to the store and returns unused quota. */
  stop(): Promise<void>;
}
