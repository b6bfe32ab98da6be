/** The composition root: connects ports and capabilities and registers the routes. */
import type { FastifyRequest } from "fastify";
import { buildAnalyses } from "./app-analyses.ts";
import { buildCustomers } from "./app-customers.ts";
import { buildDetectors, buildEventChannels } from "./app-events.ts";
import { buildMetrics } from "./app-metrics.ts";
import { buildPipeline } from "./app-pipeline.ts";
import type { App, AppPorts } from "./app-ports.ts";
import { registerMarketRoutes } from "./app-routes.ts";
import { buildTrading } from "./app-trading.ts";
import { ACCOUNT_PATH, ACCOUNT_STYLES, buildPageUrl, PLANS_PATH } from "./capabilities/account/index.ts";
import { observeCustomerResponse } from "./capabilities/activity/index.ts";
import { createHealthReport, healthRoutes, StoreProbe } from "./capabilities/health/index.ts";
import { createKeyAuthenticator } from "./capabilities/keys/index.ts";
import { createMarketplace, createMarketplaceAuthenticator } from "./capabilities/marketplace/index.ts";
import { createMatching } from "./capabilities/matching/index.ts";
import {
  createAddressLimits,
  createMetering,
  createMeteringGuards,
  pricingRoutes,
} from "./capabilities/metering/index.ts";
import { openMetricsServer } from "./capabilities/metrics/index.ts";
import { createPayments } from "./capabilities/payments/index.ts";
import {
  assetRoutes,
  COPY_SCRIPT_ASSET,
  createNotFoundPage,
  faviconRoutes,
  KEY_SCRIPT_ASSET,
  STYLESHEET_ASSET,
} from "./http/html/index.ts";
import { READ_ONLY_GUARDS } from "./http/read-only.ts";
import { createHttpServer } from "./http/server.ts";

export type { App, AppPorts } from "./app-ports.ts";

export async function buildApp(ports: AppPorts): Promise<App> {
  const { clock, random, log, database, data, publicUrl, sharedLimits, journal, account: settings } = ports;
  const isReadOnly = ports.isReadOnly === true;
  const { board, ingest, eventLog } = buildPipeline(ports);
  const detectors = buildDetectors(ports, { ingest, eventLog });
  const servesApi = ports.node?.serves !== false;
  // Analyses compare a market with the same question at other venues.
  const needsMatching = servesApi || ports.node?.maintains !== false;
  const matching = needsMatching ? createMatching({ ...ports, board }) : null;
  const analyses = buildAnalyses(ports, {
    board,
    ingest,
    eventLog,
    matching,
    onRunEnded: (run) => metrics?.observeRun(run),
  });
  const trading = buildTrading(ports, {
    board,
    ingest,
    eventLog,
    analyses,
    matching,
    onSignal: (recommendation, origin) => metrics?.observeSignal(recommendation, origin),
  });

  const nodeId = ports.node?.id ?? `single-${Buffer.from(random.bytes(9)).toString("base64url")}`;
  const channels = buildEventChannels(ports, { eventLog, nodeId });
  const accounts = buildCustomers(ports, nodeId);
  const { keys, customers, activity, browserSessions } = accounts;
  const metering = createMetering({ database, journal, clock, log, nodeId, sharedLimits });
  const addressLimits = createAddressLimits({ clock, random, meter: metering });
  const payments =
    ports.payments === undefined
      ? null
      : await createPayments({ ...ports.payments, database, clock, random, log, publicUrl, addresses: addressLimits });
  const storeProbe = new StoreProbe(database, clock, { isReadOnly });
  const failingJobs = () => [ingest, analyses, trading, channels].flatMap(({ failingJobs: names }) => names);
  const metrics = buildMetrics(ports, {
    board,
    ingest,
    analyses,
    detectors,
    matching,
    failingJobs,
    isStoreUp: () => storeProbe.isUp,
    payments: () => payments?.figures() ?? null,
    connections: () => http.connectionLimits.figures,
    ...channels.metrics,
  });
  const marketplace = createMarketplace({ secrets: ports.marketplaceSecrets, database, clock });
  const upgradeUrl = ({ headers }: FastifyRequest) =>
    settings.upgradeUrl ?? buildPageUrl(PLANS_PATH, publicUrl, headers.host);
  const http = await createHttpServer({
    clock,
    log,
    random,
    data,
    guards: [
      ...(isReadOnly ? [READ_ONLY_GUARDS] : []),
      createMeteringGuards({
        ...ports,
        meter: metering,
        upgradeUrl,
        addresses: addressLimits,
        countsQuota: !isReadOnly,
      }),
    ],
    publicUrl,
    trustProxy: ports.trustProxy,
    corsOrigins: ports.corsOrigins,
    connections: ports.connections,
    notFoundPage: servesApi ? createNotFoundPage : undefined,
    onResponse(response) {
      metrics?.observeResponse(response);
      if (!isReadOnly) observeCustomerResponse(activity, response);
    },
    authentication: {
      authenticate: createKeyAuthenticator(keys),
      signUpUrl: ({ headers }) => buildPageUrl(ACCOUNT_PATH, publicUrl, headers.host),
      // The marketplace is checked first, because its users must not be charged per call as well.
      authenticateOtherwise: [
        createMarketplaceAuthenticator(marketplace),
        ...(payments === null ? [] : [payments.gate.identify]),
      ],
      session: accounts.sessionAuthenticator,
    },
    paymentGate: payments?.gate,
  });
  const health = createHealthReport({ ...ports, probe: storeProbe, ingest, matching, failingJobs });
  if (servesApi && matching !== null) {
    registerMarketRoutes(http, { ports, board, ingest, matching, analyses, trading, browserSessions, health });
    channels.registerRoutes(http);
    accounts.registerRoutes(http, (customer) => metering.usage(customer));
    assetRoutes(http, [STYLESHEET_ASSET, COPY_SCRIPT_ASSET, KEY_SCRIPT_ASSET, ACCOUNT_STYLES]);
    faviconRoutes(http);
    pricingRoutes(http);
  }

  healthRoutes(http, { report: health, isStoreUp: () => storeProbe.isUp });
  const metricsHttp = await openMetricsServer(http, ports, metrics);

  return {
    http,
    metricsHttp,
    ingest,
    board,
    metering,
    customers,
    matching,
    analyses,
    trading,
    start() {
      storeProbe.start();
      for (const writer of isReadOnly ? [] : [accounts, detectors, ingest]) writer.start();
      matching?.start();
      payments?.start();
      analyses.start();
      trading.start();
      channels.start();
    },
    async stop() {
      storeProbe.stop();
      await Promise.all([payments?.stop(), analyses.stop(), trading.stop(), channels.stop()]);
      await ports.jobs.close();
      await Promise.all([isReadOnly ? null : accounts.stop(), ingest.stop(), matching?.stop()]);
      // After ingest, whose last observations may be alerts.
      await Promise.all([detectors.stop(), metering.stop()]);
    },
  };
}
