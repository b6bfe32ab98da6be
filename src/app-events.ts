import type { FastifyInstance } from "fastify";
import { type AppPorts, tradingVenuesOf } from "./app-ports.ts";
import { findActivePlans, KEYS_TOPIC } from "./capabilities/keys/index.ts";
import { createMarketAlerts, DEFAULT_ALERT_LIMITS, type MarketAlerts } from "./capabilities/market-alerts/index.ts";
import { createStreaming, type StreamFigures, streamRoutes } from "./capabilities/streaming/index.ts";
import { createWebhookService, Dispatcher, type WebhookFigures, webhookRoutes } from "./capabilities/webhooks/index.ts";
import type { EventLog } from "./event-log/index.ts";
import type { Ingest } from "./ingest/index.ts";

/** The channels on which customers receive events: nodes with the API serve streams, nodes that run maintenance send webhooks. */
export interface EventChannels {
  /** Sources of metrics; null on a node without the channel. */
  readonly metrics: { streams(): StreamFigures | null; webhooks(): WebhookFigures | null };
  /** Names of the jobs whose last run failed, for health and metrics. */
  readonly failingJobs: readonly string[];
  registerRoutes(http: FastifyInstance): void;
  start(): void;
  stop(): Promise<void>;
}

export function buildEventChannels(
  ports: AppPorts,
  { eventLog, nodeId }: { readonly eventLog: EventLog; readonly nodeId: string },
): EventChannels {
  const { database, bus, clock, random, log, node, webhookOut, secretSeal } = ports;
  const streaming =
    node?.serves === false
      ? null
      : createStreaming({
          ...{ bus, clock, random, log: eventLog, logger: log, keysTopic: KEYS_TOPIC, limits: ports.streams },
          readPlans: (keyIds) => findActivePlans(database, keyIds),
        });
  const dispatcher =
    node?.maintains === false
      ? null
      : new Dispatcher({ database, eventLog, bus, clock, random, log, nodeId, out: webhookOut, seal: secretSeal });
  return {
    metrics: { streams: () => streaming?.figures ?? null, webhooks: () => dispatcher?.figures ?? null },
    get failingJobs() {
      return dispatcher?.failingJobs ?? [];
    },
    registerRoutes(http) {
      const venues = { trading: tradingVenuesOf(ports), all: ports.venues.map(({ id }) => id) };
      if (streaming !== null) streamRoutes(http, { streaming, venues });
      const { checkWebhookUrl: checkUrl, publicUrl } = ports;
      const service = createWebhookService({
        database,
        bus,
        clock,
        random,
        out: webhookOut,
        seal: secretSeal,
        checkUrl,
      });
      webhookRoutes(http, { service, publicUrl });
    },
    start() {
      streaming?.start();
      dispatcher?.start();
    },
    async stop() {
      await Promise.all([streaming?.stop(), dispatcher?.stop()]);
    },
  };
}

/** Connects the detectors of price shifts and large trades to the live feed of ingest. */
export function buildDetectors(
  ports: AppPorts,
  { ingest, eventLog }: { readonly ingest: Ingest; readonly eventLog: EventLog },
): MarketAlerts {
  const { database, clock, log, alertLimits = DEFAULT_ALERT_LIMITS } = ports;
  const venues = tradingVenuesOf(ports);
  const alerts = createMarketAlerts({ database, eventLog, clock, log, venues, limits: alertLimits });
  ingest.observe(alerts.observer);
  return alerts;
}
