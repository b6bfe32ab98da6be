import type { FastifyInstance } from "fastify";
import Type from "typebox";
import { METERING, type Metering } from "../../../domain/metering.ts";
import { createCursorError, decodeCursor, encodeCursor, nextPageLink } from "../../../http/pagination.ts";
import { defineRoute } from "../../../http/route.ts";
import { presentChangedWebhook, presentDelivery, presentTest, presentWebhook } from "./present.ts";
import {
  ChangedWebhook,
  changeBody,
  deliveriesQuery,
  registrationBody,
  Webhook,
  WebhookDelivery,
  WebhookTest,
  webhookPath,
} from "./schema.ts";
import type { WebhookService } from "./service.ts";

/** No price, because webhooks belong to an account, which pay-per-request callers do not have. */
const REGISTRATION_METERING: Metering = { ...METERING.DEEP, priceTier: null, needsAccount: true };
const TEST_METERING: Metering = { ...METERING.ACCOUNT, minimumPlan: "pro" };
const DELIVERIES_DEFAULT = 50;

export interface WebhookRoutesOptions {
  readonly service: WebhookService;
  readonly publicUrl: string | null;
}

/** The routes below /v1/webhooks. Without webhooks in the plan, a customer can still read and delete them. */
export function webhookRoutes(app: FastifyInstance, { service, publicUrl }: WebhookRoutesOptions): void {
  const options = { access: "key", tag: "Streaming" } as const;
  const missing = ["webhook_not_found", "store_unavailable"] as const;
  defineRoute(app, {
    ...options,
    method: "POST",
    url: "/v1/webhooks",
    metering: REGISTRATION_METERING,
    summary: "Register a webhook",
    description:
      "Sends the events of the selected types that occur after the registration to your URL, signed by Standard Webhooks. An account has at most 10 webhooks.",
    operationId: "create_webhook",
    body: registrationBody,
    responses: { 200: ChangedWebhook },
    errors: ["webhook_limit_reached", "store_unavailable"],
    handler: async ({ body, principal }) => presentChangedWebhook(await service.register(principal.customerId, body)),
  });
  defineRoute(app, {
    ...options,
    method: "GET",
    url: "/v1/webhooks",
    metering: METERING.ACCOUNT,
    summary: "List your webhooks",
    description: "Returns the webhooks of your account, oldest first, without their secrets.",
    operationId: "list_webhooks",
    responses: { 200: Type.Array(Webhook) },
    errors: ["store_unavailable"],
    handler: async ({ principal }) => (await service.list(principal.customerId)).map(presentWebhook),
  });
  defineRoute(app, {
    ...options,
    method: "DELETE",
    url: "/v1/webhooks/:webhook_id",
    metering: METERING.ACCOUNT,
    summary: "Delete a webhook",
    description:
      "Deletes a webhook with its deliveries. After the response, no attempt begins; one that is running ends.",
    operationId: "delete_webhook",
    params: webhookPath,
    responses: { 200: Type.Object({}) },
    errors: missing,
    async handler({ params: { webhook_id: webhookId }, principal }) {
      await service.remove(principal.customerId, webhookId);
      return {};
    },
  });
  defineRoute(app, {
    ...options,
    method: "PATCH",
    url: "/v1/webhooks/:webhook_id",
    metering: METERING.ACCOUNT,
    summary: "Change a webhook",
    description:
      "Enables or disables a webhook, changes its event types, or replaces its secret. During the 24 hours after a replacement, `webhook-signature` contains a signature by each of the two secrets.",
    operationId: "update_webhook",
    params: webhookPath,
    body: changeBody,
    responses: { 200: ChangedWebhook },
    errors: missing,
    handler: async ({ params: { webhook_id: webhookId }, body, principal }) =>
      presentChangedWebhook(await service.change(principal.customerId, webhookId, body)),
  });
  deliveryRoutes(app, { service, publicUrl });
}

function deliveryRoutes(app: FastifyInstance, { service, publicUrl }: WebhookRoutesOptions): void {
  const options = { access: "key", tag: "Streaming", params: webhookPath } as const;
  const errors = ["webhook_not_found", "store_unavailable"] as const;
  defineRoute(app, {
    ...options,
    method: "POST",
    url: "/v1/webhooks/:webhook_id/test",
    metering: TEST_METERING,
    summary: "Send a test event",
    description:
      "Sends a signed event of the type `test` now and returns the result. It is not repeated, and `failure_count` does not change. A webhook can be tested every 10 seconds, also while it is disabled.",
    operationId: "test_webhook",
    responses: { 200: WebhookTest },
    errors,
    handler: async ({ params, principal }) => presentTest(await service.test(principal.customerId, params.webhook_id)),
  });
  defineRoute(app, {
    ...options,
    method: "GET",
    url: "/v1/webhooks/:webhook_id/deliveries",
    metering: METERING.ACCOUNT,
    summary: "List deliveries of a webhook",
    description:
      "Returns the events that were sent, newest event first, each with the result of its last attempt. They are kept for three days, and longer while they wait for a retry. The `Link` header leads to the next page.",
    operationId: "list_webhook_deliveries",
    query: deliveriesQuery,
    responses: { 200: Type.Array(WebhookDelivery) },
    errors,
    async handler({ params: { webhook_id: webhookId }, query, principal, request, reply }) {
      const { limit = DELIVERIES_DEFAULT, cursor } = query;
      const listing = { webhookId };
      const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : decodeEventId(cursor, listing);
      // Reads one more than the limit, to detect whether there is a next page.
      const deliveries = await service.deliveries(principal.customerId, webhookId, { before, limit: limit + 1 });
      const page = deliveries.slice(0, limit);
      const last = page.at(-1);
      if (deliveries.length > limit && last !== undefined) {
        const next = encodeCursor({ value: null, id: String(last.eventId) }, listing);
        reply.header("link", nextPageLink(request.url, next, publicUrl));
      }
      return page.map(presentDelivery);
    },
  });
}

function decodeEventId(cursor: string, listing: { readonly webhookId: string }): number {
  const id = Number(decodeCursor(cursor, listing).id);
  if (!Number.isSafeInteger(id) || id < 0) throw createCursorError(cursor);
  return id;
}
