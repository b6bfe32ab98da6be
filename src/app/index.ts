/** The composition root: builds the areas and registers their routes. */
import type { FastifyInstance } from "fastify";
import { observeCustomerResponse } from "../capabilities/accounts/activity/index.ts";
import { createAccountsArea } from "../capabilities/accounts/index.ts";
import { presentAnalysis } from "../capabilities/analysis/analyses/index.ts";
import { createAnalysisArea, readAnalysis, registerAnalysisRoutes } from "../capabilities/analysis/index.ts";
import { createEventsArea } from "../capabilities/events/index.ts";
import { registerMarketRoutes } from "../capabilities/markets/index.ts";
import { createMatching } from "../capabilities/markets/matching/index.ts";
import { createOperationsArea } from "../capabilities/operations/index.ts";
import { registerSiteRoutes } from "../capabilities/site/index.ts";
import { createTrading, registerStrategyRoutes } from "../capabilities/strategy/index.ts";
import { createNotFoundPage } from "../http/html/index.ts";
import { READ_ONLY_GUARDS } from "../http/read-only.ts";
import { createHttpServer } from "../http/server.ts";
import { CUSTOMER_DATA } from "./customer-data.ts";
import { buildLocalPipeline, buildRemotePipeline } from "./pipeline.ts";
import type { AppPorts } from "./ports.ts";

export type { AppPorts } from "./ports.ts";

export type App = Awaited<ReturnType<typeof buildApp>>;

export async function buildApp(ports: AppPorts) {
  const areas = await buildAreas(ports, () => http.connectionLimits.figures);
  const { matching, operations } = areas;
  const http = await buildHttpServer(ports, areas);
  if (ports.node?.serves !== false && matching !== null) registerRoutes(http, ports, { ...areas, matching });
  operations.registerHealthRoutes(http);
  const metricsHttp = await operations.openMetricsServer(http);
  const { accounts, alerts, analyses, board, events, ingest, trading } = areas;
  return {
    http,
    /** Serves only /metrics; null without a separate metrics port. */
    metricsHttp,
    ingest,
    board,
    /** The caller must start metering before the server listens. */
    metering: accounts.metering,
    customers: accounts.customers,
    /** Null on a node that neither serves the API nor runs analyses. */
    matching,
    analyses,
    trading,
    start(): void {
      operations.start();
      accounts.start();
      events.start();
      if (ports.isReadOnly !== true) {
        // Started before ingest, because its first observations may cause alerts.
        alerts.start();
        ingest.start();
      }
      matching?.start();
      analyses.start();
      trading.start();
    },
    /** Stops reading venues, writes queued data to the store and returns unused quota. */
    async stop(): Promise<void> {
      operations.stop();
      await Promise.all([analyses.stop(), trading.stop(), events.stop(), accounts.stopPayments()]);
      await ports.jobs.close();
      await Promise.all([accounts.stop(), ingest.stop(), matching?.stop()]);
      // Stopped after ingest, because its last observations may cause alerts.
      await alerts.stop();
    },
  };
}

type Areas = Awaited<ReturnType<typeof buildAreas>>;

async function buildAreas(ports: AppPorts, connections: () => FastifyInstance["connectionLimits"]["figures"]) {
  const { random, node } = ports;
  const nodeId = node?.id ?? `single-${Buffer.from(random.bytes(9)).toString("base64url")}`;
  const { spawnIngest } = ports;
  const pipeline = spawnIngest === undefined ? buildLocalPipeline(ports) : buildRemotePipeline(ports, spawnIngest);
  const { alerts, ingest } = pipeline;
  const accounts = await createAccountsArea(ports, { nodeId, customerData: CUSTOMER_DATA });
  const events = createEventsArea(ports, { ...pipeline, nodeId });
  // Analyses compare a market with the same question at other venues.
  const needsMatching = node?.serves !== false || node?.maintains !== false;
  const matching = needsMatching ? createMatching({ ...ports, ...pipeline }) : null;
  const analyses = createAnalysisArea(ports, {
    ...pipeline,
    matching,
    onRunEnded: (run) => operations.metrics?.observeRun(run),
  });
  const trading = createTrading(ports, {
    ...pipeline,
    analyses,
    matching,
    onSignal: (recommendation, origin) => operations.metrics?.observeSignal(recommendation, origin),
  });
  const operations = createOperationsArea(ports, {
    ...pipeline,
    alerts: () => alerts.figures,
    analyses,
    events,
    matching,
    payments: accounts.paymentFigures,
    connections,
    failingJobs: () => [ingest, analyses, trading, events].flatMap(({ failingJobs }) => failingJobs),
  });
  return { ...pipeline, accounts, events, matching, analyses, trading, operations };
}

function buildHttpServer(ports: AppPorts, { accounts, operations }: Areas): Promise<FastifyInstance> {
  const isReadOnly = ports.isReadOnly === true;
  return createHttpServer({
    ...ports,
    guards: isReadOnly ? [READ_ONLY_GUARDS, accounts.guards] : [accounts.guards],
    notFoundPage: ports.node?.serves === false ? undefined : createNotFoundPage,
    onResponse(response) {
      operations.metrics?.observeResponse(response);
      if (!isReadOnly) observeCustomerResponse(accounts.activity, response);
    },
    authentication: accounts.authentication,
    paymentGate: accounts.paymentGate,
  });
}

function registerRoutes(
  http: FastifyInstance,
  ports: AppPorts,
  areas: Areas & { readonly matching: NonNullable<Areas["matching"]> },
): void {
  const { analyses, accounts, events, operations } = areas;
  const acceptsPayments = ports.payments !== undefined;
  const services = registerMarketRoutes(http, ports, {
    ...areas,
    estimateOf: analyses.estimateOf,
    shownEstimateOf: analyses.shownEstimateOf,
    async presentAnalysisOf(market) {
      const analysis = await readAnalysis(analyses, market);
      return analysis === null || analysis.freshness === "expired" ? null : presentAnalysis(analysis);
    },
  });
  registerStrategyRoutes(http, ports, { ...areas, ...services });
  const calibration = registerAnalysisRoutes(http, ports, { ...areas, ...services, acceptsPayments });
  events.registerRoutes(http);
  accounts.registerRoutes(http);
  const { browserSessions } = accounts;
  const { health } = operations;
  registerSiteRoutes(http, ports, { ...areas, ...services, calibration, browserSessions, health, acceptsPayments });
}
