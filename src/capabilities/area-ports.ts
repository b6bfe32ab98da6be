import type { MarketBoard } from "../board/index.ts";
import type { VenueId } from "../domain/market.ts";
import type { EventLog } from "../event-log/index.ts";
import type { Ingest, NodeSettings } from "../ingest/index.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Database } from "../ports/database.ts";
import type { ByteCounter } from "../ports/http-out.ts";
import type { JobQueues } from "../ports/job-queue.ts";
import type { Log } from "../ports/log.ts";
import type { Random } from "../ports/random.ts";
import type { OpenStateThread } from "../ports/state-thread.ts";
import type { DriftCounter, DropCounter, VenueAdapter } from "../ports/venue.ts";
import type { OpenWorkerPool } from "../ports/worker-pool.ts";

/** What every area may use. The ports of an area extend them by its settings. */
export interface AreaPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly database: Database;
  /** Whether this process only checks a backup: it changes nothing and sends nothing; false by default. */
  readonly isReadOnly?: boolean;
  readonly bus: Bus;
  readonly data: "sandbox" | "live";
  readonly version: string;
  readonly publicUrl: string | null;
  /** Queues of background work in the store. */
  readonly jobs: JobQueues;
  /** Threads for computations that would block the event loop. */
  readonly openWorkerPool: OpenWorkerPool;
  /** Threads that keep state for as long as the service runs. */
  readonly openStateThread: OpenStateThread;
  /** API key for the example requests on a sandbox's pages. If null or omitted, they contain a placeholder. */
  readonly demoKey?: string | null;
  /** Roles of this process if several share the store; undefined for a single process with all roles. */
  readonly node?: NodeSettings;
  /**
   * Creates each venue's adapter, which reports dropped records to `drop`, schema drift to `drift`, and the bytes of each
   * HTTP response to `countBytes`.
   */
  readonly venues: readonly {
    readonly id: VenueId;
    /** Name of the adapter, by which fitted coefficients are stored; omitted in tests with scripted venues. */
    readonly adapter?: string;
    /** Whether the venue appears in responses only and is not accepted in paths or filters. */
    readonly referenceOnly: boolean;
    /** Whether the venue trades in play money. */
    readonly playMoney: boolean;
    readonly create: (drop: DropCounter, drift: DriftCounter, countBytes: ByteCounter) => VenueAdapter;
  }[];
}

/** What ingest provides to the areas: the current markets, on-demand reads, and the log of events. */
export interface Pipeline {
  readonly board: MarketBoard;
  readonly ingest: Ingest;
  readonly eventLog: EventLog;
}

/** Work of an area in the background. */
export interface AreaJobs {
  /** Names of the jobs whose last run failed, for health and metrics. */
  readonly failingJobs: readonly string[];
  start(): void;
  stop(): Promise<void>;
}

/** Returns the ids of the venues that customers trade at, which excludes references for prices. */
export const tradingVenuesOf = ({ venues }: Pick<AreaPorts, "venues">): readonly VenueId[] =>
  venues.filter(({ referenceOnly }) => !referenceOnly).map(({ id }) => id);

/** Returns the ids of the venues that customers trade at, and of all venues. */
export const venueIdsOf = (ports: Pick<AreaPorts, "venues">) => ({
  trading: tradingVenuesOf(ports),
  all: ports.venues.map(({ id }) => id),
});
