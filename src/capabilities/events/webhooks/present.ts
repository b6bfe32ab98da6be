import { toIso } from "../../../lib/dates/iso-time.ts";
import type { DeliveryFailure } from "../../../ports/webhook-out.ts";
import type { Delivery, Webhook } from "./model.ts";
import { isDelivered } from "./outcome.ts";
import type { ChangedWebhook, TestDeliveryResult } from "./service.ts";

/**
 * Text for an attempt without a response. An unresolved name, a private address and a refused connection have the same
 * text, because a difference would reveal which internal addresses are in use.
 */
const PROBLEMS: Readonly<Record<DeliveryFailure, string>> = {
  forbidden_address: "No connection: the name, its public address, the port or the certificate does not work",
  connection_failed: "No connection: the name, its public address, the port or the certificate does not work",
  timeout: "No response arrived within 10 seconds",
  bad_response: "The response is not valid HTTP",
  unavailable: "Nothing was sent: the service has too many requests to this host at present. Test again later",
};

export function presentWebhook(webhook: Webhook) {
  return {
    webhook_id: webhook.webhookId,
    url: webhook.url,
    events: webhook.events,
    enabled: webhook.enabled,
    failure_count: webhook.failureCount,
    created_at: toIso(webhook.createdAt),
  };
}

/** Creates the ChangedWebhook object of the API. It contains the secret only if the service has just generated it. */
export const presentChangedWebhook = ({ newSecret, ...webhook }: ChangedWebhook) => ({
  ...presentWebhook(webhook),
  ...(newSecret === null ? {} : { secret: newSecret }),
});

export function presentDelivery(delivery: Delivery) {
  return {
    event_id: String(delivery.eventId),
    event_type: delivery.eventType,
    status: delivery.status,
    attempts: delivery.attempts,
    first_attempt_at: toIso(delivery.firstAttemptAt),
    last_attempt_at: toIso(delivery.lastAttemptAt),
    response_status: delivery.responseStatus,
    response_head: delivery.responseHead,
    problem: delivery.failure === null ? null : PROBLEMS[delivery.failure],
    latency_ms: delivery.latencyMs,
    next_attempt_at: delivery.nextAttemptAt === null ? null : toIso(delivery.nextAttemptAt),
  };
}

export const presentTest = ({ answer, latencyMs }: TestDeliveryResult) => ({
  delivered: isDelivered(answer),
  response_status: answer.kind === "answered" ? answer.status : null,
  response_head: answer.kind === "answered" ? answer.bodyHead : null,
  problem: answer.kind === "answered" ? null : PROBLEMS[answer.failure],
  latency_ms: latencyMs,
});
