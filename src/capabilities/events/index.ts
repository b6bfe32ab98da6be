/** The channels that deliver events to customers. */
import type { FastifyInstance } from "fastify";
import type { SecretBox } from "../../ports/secret-box.ts";
import type { CheckWebhookUrl, WebhookOut } from "../../ports/webhook-out.ts";
import { findActivePlans, KEYS_TOPIC } from "../accounts/keys/index.ts";
import { type AreaJobs, type AreaPorts, type Pipeline, venueIdsOf } from "../area-ports.ts";
import type { AlertLimits } from "./market-alerts/index.ts";
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

export interface EventsArea extends AreaJobs {
  /** Sources of metrics; null if the node does not run the channel. */
  readonly figures: {
    streams(): StreamFigures | null;
    webhooks(): WebhookFigures | null;
  };
  registerRoutes(http: FastifyInstance): void;
}

/** Nodes with the API serve streams, and nodes that run maintenance send webhooks. */
export function createEventsArea(
  ports: EventsPorts,
  { eventLog, nodeId }: Pick<Pipeline, "eventLog"> & { readonly nodeId: string },
): EventsArea {
  const { database, bus, clock, random, log, node, webhookOut: out, secretBox: seal, publicUrl } = ports;
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
      streaming?.start();
      dispatcher?.start();
    },
    async stop() {
      await Promise.all([streaming?.stop(), dispatcher?.stop()]);
    },
  };
}
