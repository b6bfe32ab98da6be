/** The composition root: ports in, capabilities wired, routes registered. Read it and you know the API. */
import type { FastifyInstance } from "fastify";
import { type HealthReport, healthRoutes, StoreProbe } from "./capabilities/health/index.ts";
import { type RetentionDays, readMarketWideTrend } from "./capabilities/history/index.ts";
import { createIngest, type Ingest, type NodeSettings, VenueHealth } from "./capabilities/ingest/index.ts";
import { createKeyDirectory, type KeyOwner } from "./capabilities/keys/index.ts";
import { createMarketsService, MarketBoard, marketRoutes } from "./capabilities/markets/index.ts";
import { createMetrics, metricsRoutes } from "./capabilities/metrics/index.ts";
import { createEventLog } from "./capabilities/streaming/index.ts";
import type { VenueId } from "./domain/market.ts";
import type { Principal } from "./http/auth.ts";
import { createHttpServer } from "./http/server.ts";
import type { Bus } from "./ports/bus.ts";
import type { Clock } from "./ports/clock.ts";
import type { Database } from "./ports/database.ts";
import type { Log } from "./ports/log.ts";
import type { Random } from "./ports/random.ts";
import type { DriftCounter, DropCounter, VenueAdapter } from "./ports/venue.ts";

/** Everything that differs between production, tests and a developer's laptop. */
export interface AppPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly database: Database;
  readonly bus: Bus;
  readonly data: "sandbox" | "live";
  readonly version: string;
  readonly publicUrl: string | null;
  readonly trustProxy: readonly string[] | null;
  readonly rawTickDays: number;
  /** For how many days events are kept. */
  readonly eventDays: number;
  readonly retention?: Partial<RetentionDays>;
  /** This process among others that share the store; left out where it is alone and does everything. */
  readonly node?: NodeSettings;
  /** Prometheus metrics on a server of their own or, behind a token, on this one; null where nobody asked. */
  readonly metrics: { readonly hasOwnPort: boolean; readonly token: string | null } | null;
  /** Makes a venue's adapter; it counts what it cannot use through `drop`, what it does not know through `drift`. */
  readonly venues: readonly {
    readonly id: VenueId;
    readonly referenceOnly: boolean;
    readonly create: (drop: DropCounter, drift: DriftCounter) => VenueAdapter;
  }[];
}

export interface App {
  readonly http: FastifyInstance;
  /** Serves /metrics alone; null without a port of its own. */
  readonly metricsHttp: FastifyInstance | null;
  readonly ingest: Ingest;
  readonly board: MarketBoard;
  start(): void;
  /** Stops reading the venues and stores what is queued. */
  stop(): Promise<void>;
}

export async function buildApp(ports: AppPorts): Promise<App> {
  const { clock, random, log, database, bus, data } = ports;
  const board = new MarketBoard(() => clock.now());
  const venues = ports.venues.map(({ create }) => {
    // The adapter counts drops from its first message on, and its health needs the adapter's profile.
    const early: DropCounter = (reason, count) => health.drop(reason, count);
    const adapter = create(early, (kind, field, value) => health.drift(kind, field, value));
    const health = new VenueHealth(clock, adapter.profile);
    return { adapter, health };
  });
  const eventLog = createEventLog({ database, bus });
  const { rawTickDays, eventDays } = ports;
  const ingest = createIngest({
    ...{ venues, board, database, clock, log, rawTickDays, eventLog, eventDays },
    ...(ports.retention === undefined ? {} : { retention: ports.retention }),
    ...(ports.node === undefined ? {} : { node: ports.node }),
  });
  const keys = createKeyDirectory({ database, clock });
  const probe = new StoreProbe(database, clock);
  const metrics =
    ports.metrics === null
      ? null
      : createMetrics({
          version: ports.version,
          data,
          venues: () => ingest.health(),
          store: () => ingest.counters,
          isStoreUp: () => probe.isUp,
          boardMarkets: () => board.size,
          failingJobs: () => ingest.failingJobs,
        });
  const http = await createHttpServer({
    log,
    random,
    data,
    publicUrl: ports.publicUrl,
    trustProxy: ports.trustProxy,
    ...(metrics === null ? {} : { onAnswered: metrics.answered }),
    authentication: {
      authenticate: (bearer) => {
        const owner = keys.find(bearer);
        return owner instanceof Promise ? owner.then(asPrincipal) : asPrincipal(owner);
      },
    },
  });

  const venueIds = {
    trading: ports.venues.filter((venue) => !venue.referenceOnly).map((venue) => venue.id),
    all: ports.venues.map((venue) => venue.id),
  };
  const markets = createMarketsService({
    board,
    clock,
    venues: venueIds.trading,
    lookUp: (venue, marketId) => ingest.lookUp(venue, marketId),
    past: ingest.past,
    readTrend: () => readMarketWideTrend(database, clock.now()),
  });
  if (ports.node?.serves !== false)
    marketRoutes(http, {
      service: markets,
      board,
      venues: venueIds,
      publicUrl: ports.publicUrl,
      now: () => clock.now(),
    });

  const startedAt = clock.monotonic();
  const report = (): HealthReport => {
    const reports = Object.entries(ingest.health());
    const isStoreUp = probe.isUp;
    const anyTrouble =
      reports.some(([, venue]) => venue.status !== "ok") || ingest.failingJobs.length > 0 || !bus.isConnected;
    return {
      status: !isStoreUp ? "down" : anyTrouble ? "degraded" : "ok",
      version: ports.version,
      data,
      uptime_seconds: Math.round((clock.monotonic() - startedAt) / 1000),
      checks: {
        store: { status: isStoreUp ? "ok" : "down" },
        bus: bus.isConnected
          ? { status: "ok" }
          : { status: "degraded", detail: "not connected; readers look for themselves once a second" },
        jobs:
          ingest.failingJobs.length === 0
            ? { status: "ok" }
            : { status: "degraded", detail: ingest.failingJobs.join(", ") },
        venues: Object.fromEntries(
          reports.map(([id, venue]) => [
            id,
            {
              status: venue.status,
              role: venue.role,
              last_success_at: venue.lastSuccessAt === null ? null : new Date(venue.lastSuccessAt).toISOString(),
              lag_seconds: venue.lagMs === null ? null : venue.lagMs / 1000,
              markets: venue.markets,
              stream: venue.stream,
              sweep: venue.sweep,
              drops: venue.drops,
              drift: venue.drift.map(({ name, kind, count, sample, firstSeenAt, lastSeenAt }) => ({
                ...{ name, kind, count, sample },
                first_seen_at: new Date(firstSeenAt).toISOString(),
                last_seen_at: new Date(lastSeenAt).toISOString(),
              })),
            },
          ]),
        ),
      },
    };
  };
  healthRoutes(http, { report, isStoreUp: () => probe.isUp });

  let metricsHttp: FastifyInstance | null = null;
  if (metrics !== null && ports.metrics !== null) {
    const { hasOwnPort, token } = ports.metrics;
    if (hasOwnPort) {
      const nobody = { authenticate: () => null };
      metricsHttp = await createHttpServer({ log, random, data, docs: false, authentication: nobody });
    }
    metricsRoutes(metricsHttp ?? http, { metrics, token });
  }
  return {
    http,
    metricsHttp,
    ingest,
    board,
    start() {
      probe.start();
      ingest.start();
    },
    async stop() {
      probe.stop();
      await ingest.stop();
    },
  };
}

function asPrincipal(owner: KeyOwner | null): Principal | null {
  return owner === null ? null : { kind: "customer", customerId: owner.customerId, plan: owner.plan };
}
