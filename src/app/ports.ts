import type { AccountsPorts } from "../capabilities/accounts/index.ts";
import type { AnalysisPorts } from "../capabilities/analysis/index.ts";
import type { EventsPorts } from "../capabilities/events/index.ts";
import type { MarketsPorts } from "../capabilities/markets/index.ts";
import type { MatchJudgeSettings } from "../capabilities/markets/matching/index.ts";
import type { OperationsPorts } from "../capabilities/operations/index.ts";
import type { ConnectionMaxima } from "../http/connection-limits.ts";
import type { IngestThread } from "../ingest/index.ts";
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
  /** Null or omitted without a language model. */
  readonly matchJudge?: MatchJudgeSettings | null;
  /** Starts a thread that reads the venues; omitted if this thread reads them. */
  readonly spawnIngest?: () => IngestThread;
}
