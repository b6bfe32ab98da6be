import Type from "typebox";
import {
  DELIVERIES_PER_PAGE_MAX,
  WEBHOOK_SECRET_LENGTH_MAX,
  WEBHOOK_URL_LENGTH_MAX,
} from "../../../domain/webhook-limits.ts";
import { EVENT_TYPES } from "../../../event-log/index.ts";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import { count, nullableString, nullableTimestamp, oneOf, timestamp } from "../../../http/schema-types.ts";
import { emptyIsAbsent } from "../../../http/validation/index.ts";

const CURSOR_LENGTH_MAX = 2_048;
const DELIVERY_STATUSES = ["delivered", "retrying", "failed", "canceled"] as const;

const events = Type.Array(oneOf(EVENT_TYPES), {
  minItems: 1,
  maxItems: 20,
  description: "Event types to deliver.",
});
const secret = (description: string) =>
  Type.String({ minLength: 1, maxLength: WEBHOOK_SECRET_LENGTH_MAX, description });

const webhookFields = {
  webhook_id: Type.String({ description: "Identifies the webhook." }),
  url: Type.String({ description: "URL to which events are sent." }),
  events: Type.Array(oneOf(EVENT_TYPES), { description: "Event types that are delivered." }),
  enabled: Type.Boolean({
    description:
      "Whether events are delivered. The service disables a webhook after a 410, and after five days of failures.",
  }),
  failure_count: count("Failed attempts since the last successful one."),
  created_at: timestamp("When the webhook was registered."),
};
const responseFields = {
  response_status: Type.Unsafe<number | null>({
    type: ["integer", "null"],
    description: "HTTP status of the receiver. Null without a response.",
  }),
  response_head: nullableString("Beginning of the response body. Null without a response."),
  problem: nullableString("Why there is no response. Null with a response."),
};

export const webhookPath = Type.Object({
  webhook_id: Type.String({ maxLength: 100, description: "Identifies the webhook." }),
});

export const Webhook = Type.Object(webhookFields, { [SCHEMA_NAME]: "Webhook" });

export const ChangedWebhook = Type.Object(
  {
    ...webhookFields,
    secret: Type.Optional(
      Type.String({ description: "The secret, if the service has made it. It is not returned again." }),
    ),
  },
  { [SCHEMA_NAME]: "ChangedWebhook" },
);

export const registrationBody = Type.Object({
  url: Type.String({
    minLength: 1,
    maxLength: WEBHOOK_URL_LENGTH_MAX,
    description: "URL to which events are sent: https, at a public address.",
  }),
  events,
  secret: Type.Optional(
    secret(
      "Signs the deliveries. `whsec_` and base64 of 24 to 64 bytes is used as Standard Webhooks says, any other text as UTF-8. If absent, the service makes one.",
    ),
  ),
});

export const changeBody = Type.Object({
  enabled: Type.Optional(
    Type.Boolean({
      description:
        "`false` stops all deliveries and cancels retries. `true` continues with the next event and resets `failure_count`.",
    }),
  ),
  events: Type.Optional(events),
  secret: Type.Optional(secret("A new secret. The replaced one also signs for 24 hours.")),
  roll_secret: Type.Optional(
    Type.Boolean({
      description:
        "`true` makes a new secret and returns it once. The replaced one also signs for 24 hours. Not together with `secret`.",
    }),
  ),
});

export const WebhookTest = Type.Object(
  {
    delivered: Type.Boolean({ description: "Whether the receiver answered 2xx within 10 seconds." }),
    ...responseFields,
    latency_ms: Type.Unsafe<number | null>({
      type: ["integer", "null"],
      minimum: 0,
      description: "Duration of the request in milliseconds, without the wait for its turn. Null if nothing was sent.",
    }),
  },
  { [SCHEMA_NAME]: "WebhookTest" },
);

export const deliveriesQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: DELIVERIES_PER_PAGE_MAX, default: 50, description: "Deliveries per page." }),
  ),
  cursor: Type.Optional(
    emptyIsAbsent(
      Type.String({ maxLength: CURSOR_LENGTH_MAX, description: "From the `Link` header of the previous page." }),
    ),
  ),
});

export const WebhookDelivery = Type.Object(
  {
    event_id: Type.String({ description: "Id of the event. The header `webhook-id` is `evt_` and this id." }),
    event_type: oneOf(EVENT_TYPES),
    status: oneOf(DELIVERY_STATUSES, {
      description:
        "`retrying` until `next_attempt_at`, `failed` after the last attempt, `canceled` if the webhook was disabled.",
    }),
    attempts: Type.Integer({ minimum: 1, description: "Attempts so far." }),
    first_attempt_at: timestamp("When the first attempt began."),
    last_attempt_at: timestamp("When the last attempt began. The fields below describe it."),
    ...responseFields,
    latency_ms: count("Duration of the request in milliseconds, without the wait for its turn."),
    next_attempt_at: nullableTimestamp("Earliest time of the next attempt. Null if there is none."),
  },
  { [SCHEMA_NAME]: "WebhookDelivery" },
);
