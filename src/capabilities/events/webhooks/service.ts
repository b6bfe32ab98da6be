import type { Static } from "typebox";
import { AppError, invalidValue, rateLimited } from "../../../domain/errors.ts";
import {
  ATTEMPT_MS_MAX,
  OWNERSHIP_CHECK_MS,
  SECRET_OVERLAP_MS,
  TEST_DELIVERY_INTERVAL_MS,
  WEBHOOKS_PER_CUSTOMER_MAX,
} from "../../../domain/webhook-limits.ts";
import { randomBase32 } from "../../../lib/random-text.ts";
import type { Bus } from "../../../ports/bus.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Database } from "../../../ports/database.ts";
import type { Random } from "../../../ports/random.ts";
import type { SecretBox } from "../../../ports/secret-box.ts";
import type { CheckWebhookUrl, WebhookAnswer, WebhookOut } from "../../../ports/webhook-out.ts";
import { lockCustomerRow } from "../../accounts/customers/index.ts";
import { type Delivery, WEBHOOKS_TOPIC, type Webhook } from "./model.ts";
import {
  countWebhooks,
  deleteWebhook,
  insertWebhook,
  reserveTest,
  selectDeliveries,
  selectWebhooks,
  updateWebhook,
} from "./queries.ts";
import type { changeBody, registrationBody } from "./schema.ts";
import { formatSecret, openSecrets, signDelivery } from "./signature.ts";

const ID_LENGTH = 26;
const SECRET_BYTES = 32;

export interface WebhooksPorts {
  readonly database: Database;
  readonly bus: Pick<Bus, "publish">;
  readonly clock: Clock;
  readonly random: Random;
  readonly out: Pick<WebhookOut, "post">;
  readonly seal: SecretBox;
  readonly checkUrl: CheckWebhookUrl;
}

/** A webhook, with its secret if the service has just generated it. */
export type ChangedWebhook = Webhook & { readonly newSecret: string | null };

export interface TestDeliveryResult {
  readonly answer: WebhookAnswer;
  /** Duration of the request; null if it did not start. */
  readonly latencyMs: number | null;
}

export type WebhookService = ReturnType<typeof createWebhookService>;

/**
 * Registers and changes the webhooks of customers. Throws AppError `webhook_not_found` for a webhook that is unknown or
 * belongs to another customer.
 */
export function createWebhookService({ database, bus, clock, random, out, seal, checkUrl }: WebhooksPorts) {
  const makeSecret = () => formatSecret(random.bytes(SECRET_BYTES));
  /** Announces a change and waits until it is effective on all nodes. */
  const takeEffect = async (): Promise<void> => {
    bus.publish(WEBHOOKS_TOPIC);
    await clock.sleep(OWNERSHIP_CHECK_MS);
  };

  return {
    /** @throws AppError `webhook_limit_reached`; InvalidRequestError if the URL cannot be registered */
    async register(
      customerId: string,
      { url: requestedUrl, events, secret }: Static<typeof registrationBody>,
    ): Promise<ChangedWebhook> {
      const checked = checkUrl(requestedUrl);
      if (checked.kind === "invalid") throw invalidValue(["body", "url"], checked.problem, requestedUrl);
      const newSecret = secret === undefined ? makeSecret() : null;
      const webhookId = `wh-${randomBase32(random, ID_LENGTH)}`;
      const sealedSecret = seal.seal(secret ?? newSecret ?? "", webhookId);
      const webhook = { webhookId, url: checked.url, events: [...new Set(events)], createdAt: clock.now() };
      await database.transaction(async (transaction) => {
        // The lock serialises the registrations of a customer. A deletion of the customer waits for it.
        if (!(await lockCustomerRow(transaction, customerId)))
          throw new AppError("unauthorized", "Invalid or expired API key");
        if ((await countWebhooks(transaction, customerId)) >= WEBHOOKS_PER_CUSTOMER_MAX)
          throw new AppError(
            "webhook_limit_reached",
            `An account has at most ${WEBHOOKS_PER_CUSTOMER_MAX} webhooks: delete one first`,
          );
        await insertWebhook(transaction, customerId, { ...webhook, sealedSecret });
      }, "request");
      bus.publish(WEBHOOKS_TOPIC);
      return { ...webhook, enabled: true, failureCount: 0, newSecret };
    },

    list: (customerId: string): Promise<Webhook[]> => selectWebhooks(database, customerId),

    /** Deletes a webhook. No delivery attempt begins after this resolves. */
    async remove(customerId: string, webhookId: string): Promise<void> {
      if (!(await database.transaction((transaction) => deleteWebhook(transaction, customerId, webhookId), "request")))
        throw notFound();
      await takeEffect();
    },

    /**
     * After a change of the secret, deliveries are also signed with the replaced secret for 24 hours. If the change
     * disables the webhook, no attempt begins after this resolves.
     *
     * @throws InvalidRequestError if the change has both `secret` and `roll_secret`
     */
    async change(
      customerId: string,
      webhookId: string,
      { enabled, events, secret, roll_secret: rollSecret = false }: Static<typeof changeBody>,
    ): Promise<ChangedWebhook> {
      if (rollSecret && secret !== undefined)
        throw invalidValue(
          ["body", "roll_secret"],
          "roll_secret makes a secret, so send no secret with it",
          rollSecret,
        );
      const newSecret = rollSecret ? makeSecret() : null;
      const nextSecret = newSecret ?? secret;
      const change = {
        enabled: enabled ?? null,
        events: events === undefined ? null : [...new Set(events)],
        sealedSecret: nextSecret === undefined ? null : seal.seal(nextSecret, webhookId),
        previousSecretUntil: clock.now() + SECRET_OVERLAP_MS,
      };
      const webhook = await database.transaction(
        (transaction) => updateWebhook(transaction, customerId, webhookId, change),
        "request",
      );
      if (webhook === null) throw notFound();
      await takeEffect();
      return { ...webhook, newSecret };
    },

    /** Sends a signed test event immediately, even to a disabled webhook. @throws AppError `rate_limited` */
    async test(customerId: string, webhookId: string): Promise<TestDeliveryResult> {
      const now = clock.now();
      const target = await reserveTest(database, customerId, webhookId, { now, intervalMs: TEST_DELIVERY_INTERVAL_MS });
      if (target === null) throw notFound();
      if ("waitMs" in target) throw rateLimited("A webhook can be tested every 10 seconds", target.waitMs);
      const id = `test_${randomBase32(random, ID_LENGTH)}`;
      const body = JSON.stringify({
        id,
        type: "test",
        timestamp: new Date(now).toISOString(),
        webhook_id: webhookId,
      });
      const headers = signDelivery({ id: `evt_${id}`, sentAt: now, body }, openSecrets(seal, webhookId, target));
      const request = { url: target.url, headers, body, deadlineMs: ATTEMPT_MS_MAX, customerId };
      const { answer, timing } = await out.post(request);
      return { answer, latencyMs: timing === null ? null : Math.round(timing.durationMs) };
    },

    /** Returns attempted deliveries, newest event first. @param page.before  events with lower ids */
    async deliveries(
      customerId: string,
      webhookId: string,
      page: { readonly before: number; readonly limit: number },
    ): Promise<Delivery[]> {
      const deliveries = await selectDeliveries(database, customerId, webhookId, page);
      if (deliveries === null) throw notFound();
      return deliveries;
    },
  };
}

const notFound = () => new AppError("webhook_not_found", "Your account has no webhook with this id");
