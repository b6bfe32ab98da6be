import type { FastifyInstance } from "fastify";
import type { MarketBoard } from "./board/index.ts";
import type { AccountSettings } from "./capabilities/account/index.ts";
import type { Analyses, ResearchRunner } from "./capabilities/analyses/index.ts";
import type { MatchedPairs } from "./capabilities/arbitrage/index.ts";
import type { Customers, SignUpSettings } from "./capabilities/customers/index.ts";
import type { AlertLimits } from "./capabilities/market-alerts/index.ts";
import type { Matching } from "./capabilities/matching/index.ts";
import type { Metering, QuotaRetryAfter } from "./capabilities/metering/index.ts";
import type { PaymentPorts } from "./capabilities/payments/index.ts";
import type { StreamLimits } from "./capabilities/streaming/index.ts";
import type { Verification } from "./capabilities/track-record/index.ts";
import type { VenueId } from "./domain/market.ts";
import type { ConnectionMaxima } from "./http/connection-limits.ts";
import type { Ingest, NodeSettings } from "./ingest/index.ts";
import type { Bus } from "./ports/bus.ts";
import type { Clock } from "./ports/clock.ts";
import type { Database } from "./ports/database.ts";
import type { ByteCounter } from "./ports/http-out.ts";
import type { JobQueues } from "./ports/job-queue.ts";
import type { SharedLimitLog } from "./ports/limit-log.ts";
import type { Log } from "./ports/log.ts";
import type { QuotaJournal } from "./ports/quota-journal.ts";
import type { Random } from "./ports/random.ts";
import type { SecretSeal } from "./ports/secret-seal.ts";
import type { OpenStateThread } from "./ports/state-thread.ts";
import type { DriftCounter, DropCounter, VenueAdapter } from "./ports/venue.ts";
import type { CheckWebhookUrl, WebhookOut } from "./ports/webhook-out.ts";
import type { OpenWorkerPool } from "./ports/worker-pool.ts";
import type { RetentionDays } from "./storage/index.ts";

/** The dependencies and settings that production, tests and development define differently. */
export interface AppPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly database: Database;
  /** Whether this process only checks a backup: it changes nothing and sends nothing; false by default. */
  readonly isReadOnly?: boolean;
  readonly bus: Bus;
  /** Records the quota units that this process has used, so that they survive a crash. */
  readonly journal: QuotaJournal;
  /** Minute limits shared by all nodes; null if each node counts its limits separately. */
  readonly sharedLimits: SharedLimitLog | null;
  readonly data: "sandbox" | "live";
  readonly version: string;
  readonly publicUrl: string | null;
  readonly trustProxy: readonly string[] | null;
  /** Queues of background work in the store. */
  readonly jobs: JobQueues;
  /** Threads for computations that would block the event loop. */
  readonly openWorkerPool: OpenWorkerPool;
  /** Threads that keep state for as long as the service runs. */
  readonly openStateThread: OpenStateThread;
  /** Origins whose scripts may use the API; none by default. */
  readonly corsOrigins?: readonly string[];
  /** Limits of connections; omitted fields have the defaults of the HTTP server. */
  readonly connections?: Partial<ConnectionMaxima>;
  /** Limits of open event streams; omitted fields have defaults. */
  readonly streams?: Partial<StreamLimits>;
  /** Sends the deliveries of webhooks. */
  readonly webhookOut: WebhookOut;
  /** Encrypts the secrets of webhooks. */
  readonly secretSeal: SecretSeal;
  readonly checkWebhookUrl: CheckWebhookUrl;
  /** Secrets that authenticate the API marketplace: none, one, or two during a rotation. */
  readonly marketplaceSecrets: readonly string[];
  /** Retention of stored data in days; omitted fields have defaults. */
  readonly retention?: Partial<RetentionDays>;
  /** Size of the embedded store's folder above which the oldest data is deleted early; null or omitted: unlimited. */
  readonly storeBytesMax?: number | null;
  /** Limits above which price shifts and trades cause alerts. If omitted, the defaults apply. */
  readonly alertLimits?: AlertLimits;
  /** Days after which events are deleted. */
  readonly eventDays: number;
  /** Settings of sign-up; null rejects sign-ups with `signup_not_configured`. */
  readonly signUp: SignUpSettings | null;
  /** Bot check and e-mail delivery of the account page. */
  readonly account: AccountSettings;
  /** API key for the example requests on a sandbox's pages. If null or omitted, they contain a placeholder. */
  readonly demoKey?: string | null;
  /** Format of `Retry-After` if a monthly quota is used up; the date of the reset by default. */
  readonly quotaRetryAfter?: QuotaRetryAfter;
  /** Days after which audit log entries are deleted. */
  readonly auditDays: number;
  /** Roles of this process if several share the store; undefined for a single process with all roles. */
  readonly node?: NodeSettings;
  /** Prometheus metrics on a separate server, on the API server behind a token, or both; null disables them. */
  readonly metrics: { readonly hasOwnPort: boolean; readonly token: string | null } | null;
  /** Per-call payments; undefined disables them. They require `publicUrl`. */
  readonly payments?: PaymentPorts;
  /** Analyses: research, and how many run at a time. By default without research. */
  readonly analyses?: {
    readonly researchRunner?: ResearchRunner | null;
    readonly concurrency?: number;
    readonly limits?: { readonly waitingMax: number; readonly waitingPerCustomerMax: number };
    /** Whether the service analyses the most traded markets itself; true by default. */
    readonly hasHouseJob?: boolean;
  };
  /** Pairs of markets that ask the same question; by default those that matching finds. */
  readonly matchedPairs?: MatchedPairs;
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

/** Returns the ids of the venues that customers trade at, which excludes references for prices. */
export const tradingVenuesOf = ({ venues }: Pick<AppPorts, "venues">): readonly VenueId[] =>
  venues.filter(({ referenceOnly }) => !referenceOnly).map(({ id }) => id);

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
  readonly trading: {
    readonly book: { verify(): Promise<Verification> };
    /** Called by `App.start`. */
    start(): void;
    stop(): Promise<void>;
  };
  /** Null on a node that neither serves the API nor runs analyses. */
  readonly matching: Matching | null;
  start(): void;
  /** Stops reading venues, writes queued data to the store and returns unused quota. */
  stop(): Promise<void>;
}
