/** The composition root: connects ports and capabilities and registers the routes. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { App, AppPorts } from "./app-ports.ts";
import { MarketBoard } from "./board/index.ts";
import { accountRoutes, createAccountPage, plansUrl } from "./capabilities/account/index.ts";
import { createCustomers, customerRoutes, insertAudit } from "./capabilities/customers/index.ts";
import { createHealthReport, healthRoutes, StoreProbe } from "./capabilities/health/index.ts";
import { createKeyAuthenticator, createKeyDirectory, createKeyUsage, KEYS_TOPIC } from "./capabilities/keys/index.ts";
import { createMarketplace, createMarketplaceAuthenticator } from "./capabilities/marketplace/index.ts";
import { createMarketsService, marketRoutes } from "./capabilities/markets/index.ts";
import {
  createAddressLimits,
  createMetering,
  createMeteringGuards,
  pricingRoutes,
} from "./capabilities/metering/index.ts";
import { createMetrics, type Metrics, metricsRoutes } from "./capabilities/metrics/index.ts";
import { createPayments } from "./capabilities/payments/index.ts";
import { createSessions } from "./capabilities/sessions/index.ts";
import type { VenueId } from "./domain/market.ts";
import { createEventLog } from "./event-log/index.ts";
import { renderNotFoundPage, stylesheetRoute } from "./http/html/index.ts";
import { createHttpServer } from "./http/server.ts";
import { createIngest, type Ingest, VenueHealth } from "./ingest/index.ts";
import { readMarketWideTrend } from "./storage/index.ts";

export type { App, AppPorts } from "./app-ports.ts";

/** Open connections of the separate metrics port. */
const METRICS_CONNECTIONS_MAX = 64;

export async function buildApp(ports: AppPorts): Promise<App> {
  const { clock, random, log, database, bus, data, publicUrl, sharedLimits, journal, account: settings } = ports;
  const { board, ingest } = buildPipeline(ports);

  const keyUsage = createKeyUsage({ database, clock, log });
  const keys = createKeyDirectory({ database, clock, onUsed: keyUsage.recordUse });
  const customers = createCustomers({
    database,
    clock,
    random,
    log,
    signUp: ports.signUp,
    auditDays: ports.auditDays,
    emailDelivery: settings.emailDelivery,
    onKeysChanged() {
      // Clears this node's cache immediately; the bus message clears the caches of the other nodes.
      keys.clear();
      bus.publish(KEYS_TOPIC);
    },
  });
  const sessions = createSessions({ database, clock, random, record: insertAudit });
  const page = createAccountPage({ database, clock, random, log, data, sessions, accounts: customers, settings, keys });

  const nodeId = ports.node?.id ?? `single-${Buffer.from(random.bytes(9)).toString("base64url")}`;
  const metering = createMetering({ database, journal, clock, log, nodeId, sharedLimits });
  const addressLimits = createAddressLimits({ clock, random, meter: metering });
  const payments =
    ports.payments === undefined
      ? null
      : await createPayments({ ...ports.payments, database, clock, random, log, publicUrl, addresses: addressLimits });
  const storeProbe = new StoreProbe(database, clock);
  const metrics =
    ports.metrics === null
      ? null
      : createMetrics({
          version: ports.version,
          data,
          venues: () => ingest.health(),
          store: () => ingest.counters,
          isStoreUp: () => storeProbe.isUp,
          boardMarkets: () => board.size,
          failingJobs: () => ingest.failingJobs,
          payments: () => payments?.figures() ?? null,
          connections: () => http.connectionLimits.figures,
        });

  const servesApi = ports.node?.serves !== false;
  const marketplace = createMarketplace({ secrets: ports.marketplaceSecrets, database, clock });
  const upgradeUrl = ({ headers }: FastifyRequest) => settings.upgradeUrl ?? plansUrl(publicUrl, headers.host);
  const http = await createHttpServer({
    clock,
    log,
    random,
    data,
    guards: [createMeteringGuards({ meter: metering, random, upgradeUrl, addresses: addressLimits })],
    publicUrl,
    trustProxy: ports.trustProxy,
    connections: ports.connections,
    notFoundPage: servesApi ? renderNotFoundPage : undefined,
    onResponse: metrics?.observeResponse,
    authentication: {
      authenticate: createKeyAuthenticator(keys),
      // The marketplace is checked first, because its users must not be charged per call as well.
      authenticateOtherwise: [
        createMarketplaceAuthenticator(marketplace),
        ...(payments === null ? [] : [payments.gate.identify]),
      ],
    },
    paymentGate: payments?.gate,
  });
  if (servesApi) {
    const usage: typeof metering.usage = (customer) => metering.usage(customer);
    registerMarketRoutes(http, ports, board, ingest);
    customerRoutes(http, { customers, usage, clock, random });
    stylesheetRoute(http);
    pricingRoutes(http);
    accountRoutes(http, { page, customers, sessions, settings, clock, random, data, usage, publicUrl });
  }

  const createReport = createHealthReport({ version: ports.version, data, clock, bus, probe: storeProbe, ingest });
  healthRoutes(http, { report: createReport, isStoreUp: () => storeProbe.isUp });
  const metricsHttp = await createMetricsServer(http, ports, metrics);

  let unsubscribe = () => {};
  return {
    http,
    metricsHttp,
    ingest,
    board,
    metering,
    customers,
    start() {
      storeProbe.start();
      unsubscribe = bus.subscribe(KEYS_TOPIC, () => keys.clear());
      keyUsage.start();
      customers.start();
      ingest.start();
      payments?.start();
    },
    async stop() {
      storeProbe.stop();
      await payments?.stop();
      unsubscribe();
      await Promise.all([customers.stop(), page.stop(), keyUsage.stop(), ingest.stop()]);
      await metering.stop();
    },
  };
}

/** Venue adapters, the board that they fill, and the ingest that reads them. */
function buildPipeline(ports: AppPorts): { board: MarketBoard; ingest: Ingest } {
  const { clock, log, database, bus, eventDays, retention, node } = ports;
  const board = new MarketBoard(() => clock.now());
  const venues = ports.venues.map(({ create }) => {
    // `health` needs the adapter's profile, and the adapter calls `health` only after both are created.
    const adapter = create(
      (reason, count) => health.drop(reason, count),
      (kind, field, value) => health.drift(kind, field, value),
      (receivedBytes, decodedBytes) => health.requested(receivedBytes, decodedBytes),
    );
    const health = new VenueHealth(clock, adapter.profile);
    return { adapter, health };
  });
  const eventLog = createEventLog({ database, bus });
  const ingest = createIngest({ venues, board, database, clock, log, bus, eventLog, eventDays, retention, node });
  return { board, ingest };
}

function registerMarketRoutes(http: FastifyInstance, ports: AppPorts, board: MarketBoard, ingest: Ingest): void {
  const { clock, database, publicUrl } = ports;
  const listIds = (venues: AppPorts["venues"]): readonly VenueId[] => venues.map(({ id }) => id);
  const venues = { trading: listIds(ports.venues.filter((venue) => !venue.referenceOnly)), all: listIds(ports.venues) };
  const service = createMarketsService({
    board,
    clock,
    venues: venues.trading,
    fetchMarket: (venue, marketId) => ingest.lookUp(venue, marketId),
    pastPrices: ingest.pastPrices,
    readTrend: () => readMarketWideTrend(database, clock.now()),
  });
  marketRoutes(http, { service, board, venues, publicUrl, now: () => clock.now() });
}

/** Registers /metrics on a separate server if configured, else on the API server. Returns the separate server, or null. */
async function createMetricsServer(
  http: FastifyInstance,
  ports: AppPorts,
  metrics: Metrics | null,
): Promise<FastifyInstance | null> {
  if (metrics === null || ports.metrics === null) return null;
  const { clock, log, random, data } = ports;
  const connections = { total: METRICS_CONNECTIONS_MAX, perAddress: METRICS_CONNECTIONS_MAX };
  const authentication = { authenticate: () => null };
  const { hasOwnPort, token } = ports.metrics;
  const metricsHttp = hasOwnPort
    ? await createHttpServer({ clock, log, random, data, connections, docs: false, authentication })
    : null;
  metricsRoutes(metricsHttp ?? http, { metrics, token });
  return metricsHttp;
}
