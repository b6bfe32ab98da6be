/** Webhooks: registration, and delivery of the event log to the URLs of customers. */

export { Dispatcher, type WebhookFigures } from "./dispatcher.ts";
export { cancelWaitingDeliveries, deleteWebhooksOf } from "./queries.ts";
export { webhookRoutes } from "./routes.ts";
export { createWebhookService } from "./service.ts";
