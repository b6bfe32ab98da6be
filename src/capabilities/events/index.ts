/** Alerts about prices and trades, and the channels that deliver events to customers. */
import type { FastifyInstance } from "fastify";
import type { SecretBox } from "../../ports/secret-box.ts";
import type { CheckWebhookUrl, WebhookOut } from "../../ports/webhook-out.ts";
import { findActivePlans, KEYS_TOPIC } from "../accounts/keys/index.ts";
import { type AreaJobs, type AreaPorts, type Pipeline, tradingVenuesOf, venueIdsOf } from "../area-ports.ts";
import {
  type AlertFigures,
  type AlertLimits,
  createMarketAlerts,
  DEFAULT_ALERT_LIMITS,
} from "./market-alerts/index.ts";
import { createStreaming, type StreamFigures, type StreamLimits, streamRoutes } from "./streaming/index.ts";
import { createWebhookService, Dispatcher, type WebhookFigures, webhookRoutes } from "./webhooks/index.ts";

export interface EventsPorts extends AreaPorts {
  /** Limits of open event streams; omitted fields have defaults. */
  readonly streams?: Partial<StreamLimits>;
  /** Sends the deliveries of webhooks. */
  readonly webhookOut: WebhookOut;
  readonly secretBox: SecretBox;
  readonly checkWebhookUrl: CheckWebhookUrl;
  /** Limits above which price shifts and trades cause alerts; defaults if omitted. */
  readonly alertLimits?: AlertLimits;
}

export interface EventsArea extends Omit<AreaJobs, "stop"> {
  /** Sources of metrics; null if the node does not run the channel. */
  readonly figures: {
    alerts(): AlertFigures;
    streams(): StreamFigures | null;
    webhooks(): WebhookFigures | null;
  };
  registerRoutes(http: FastifyInstance): void;
  /** Ends streams and webhook deliveries. */
  stopChannels(): Promise<void>;
  /** Stores the last alerts. Call it after ingest has ended, because its last observations may cause alerts. */
  stopAlerts(): Promise<void>;
}

/** Creates the alert detectors. Nodes with the API serve streams, and nodes that run maintenance send webhooks. */
export function createEventsArea(
  ports: EventsPorts,
  { ingest, eventLog, nodeId }: Pick<Pipeline, "ingest" | "eventLog"> & { readonly nodeId: string },
): EventsArea {
  const { database, bus, clock, random, log, node, webhookOut: out, secretBox: seal, publicUrl } = ports;
  const alerts = createMarketAlerts({
    database,
    eventLog,
    clock,
    log,
    venues: tradingVenuesOf(ports),
    limits: ports.alertLimits ?? DEFAULT_ALERT_LIMITS,
    requestTakers: (market) => ingest.requestTakers(market),
  });
  ingest.observe(alerts.observer);
  const streaming =
    node?.serves === false
      ? null
      : createStreaming({
          bus,
          clock,
          random,
          log: eventLog,
          logger: log,
          keysTopic: KEYS_TOPIC,
          limits: ports.streams,
          readPlans: (keyIds) => findActivePlans(database, keyIds),
        });
  const dispatcher =
    node?.maintains === false
      ? null
      : new Dispatcher({ database, eventLog, bus, clock, random, log, nodeId, out, seal });
  return {
    figures: {
      alerts: () => alerts.figures,
      streams: () => streaming?.figures ?? null,
      webhooks: () => dispatcher?.figures ?? null,
    },
    get failingJobs() {
      return dispatcher?.failingJobs ?? [];
    },
    registerRoutes(http) {
      if (streaming !== null) streamRoutes(http, { streaming, venues: venueIdsOf(ports) });
      const checkUrl = ports.checkWebhookUrl;
      const service = createWebhookService({ database, bus, clock, random, out, seal, checkUrl });
      webhookRoutes(http, { service, publicUrl });
    },
    start() {
      if (ports.isReadOnly !== true) alerts.start();
      streaming?.start();
      dispatcher?.start();
    },
    async stopChannels() {
      await Promise.all([streaming?.stop(), dispatcher?.stop()]);
    },
    stopAlerts: () => alerts.stop(),
  };
}
