import type { EventType } from "../../../event-log/index.ts";
import { toMillisSql } from "../../../lib/timestamp-sql.ts";
import type { Database, Transaction } from "../../../ports/database.ts";
import type { Delivery, SealedSecrets, Webhook } from "./model.ts";

const COLUMNS = `webhooks.webhook_id as "webhookId", webhooks.url, webhooks.events, webhooks.enabled,
  webhooks.failure_count as "failureCount", ${toMillisSql("webhooks.created_at")} as "createdAt"`;

/** The newest event id. A new webhook gets the events after it; an event that commits later has a higher id. */
const LATEST_EVENT = "(select coalesce(max(last_id), 0) from event_log_head)";

export async function countWebhooks(transaction: Transaction, customerId: string): Promise<number> {
  const [row] = await transaction.query<{ count: number }>(
    "select count(*)::int4 as count from webhooks where customer_id = $1",
    [customerId],
  );
  return row?.count ?? 0;
}

export async function insertWebhook(
  transaction: Transaction,
  customerId: string,
  webhook: Pick<Webhook, "webhookId" | "url" | "events" | "createdAt"> & { readonly sealedSecret: string },
): Promise<void> {
  const { webhookId, url, events, sealedSecret, createdAt } = webhook;
  await transaction.query(
    `insert into webhooks (webhook_id, customer_id, url, events, enabled, secret, created_at, position)
     values ($1, $2, $3, $4::text[], true, $5, to_timestamp($6::float8 / 1000), ${LATEST_EVENT})`,
    [webhookId, customerId, url, events, sealedSecret, createdAt],
  );
}

/** Selects the webhooks of a customer, oldest first. */
export function selectWebhooks(database: Database, customerId: string): Promise<Webhook[]> {
  return database.query<Webhook>(
    `select ${COLUMNS} from webhooks where customer_id = $1 order by created_at, webhook_id`,
    [customerId],
    "request",
  );
}

/** Deletes a webhook of the customer with its deliveries. Returns whether it existed. */
export async function deleteWebhook(transaction: Transaction, customerId: string, webhookId: string): Promise<boolean> {
  const rows = await transaction.query(
    "delete from webhooks where webhook_id = $1 and customer_id = $2 returning 1 as deleted",
    [webhookId, customerId],
  );
  // Deletes in this order, because results are written only while the webhook exists.
  if (rows.length > 0) await transaction.query("delete from webhook_deliveries where webhook_id = $1", [webhookId]);
  return rows.length > 0;
}

export async function deleteWebhooksOf(transaction: Transaction, customerId: string): Promise<void> {
  const rows = await transaction.query<{ webhookId: string }>(
    `delete from webhooks where customer_id = $1 returning webhook_id as "webhookId"`,
    [customerId],
  );
  if (rows.length === 0) return;
  await transaction.query("delete from webhook_deliveries where webhook_id = any($1::text[])", [
    rows.map(({ webhookId }) => webhookId),
  ]);
}

export interface WebhookChange {
  /** Null leaves a field unchanged. */
  readonly enabled: boolean | null;
  readonly events: readonly EventType[] | null;
  readonly sealedSecret: string | null;
  /** Unix milliseconds until which deliveries are also signed with the replaced secret. */
  readonly previousSecretUntil: number;
}

/** Changes a webhook. A re-enabled webhook starts with the next event and without a failure streak. */
export async function updateWebhook(
  transaction: Transaction,
  customerId: string,
  webhookId: string,
  { enabled, events, sealedSecret, previousSecretUntil }: WebhookChange,
): Promise<Webhook | null> {
  const [row] = await transaction.query<Webhook & { readonly isRestarted: boolean }>(
    `with old as (select webhook_id, coalesce($3::bool, false) and not enabled as is_restarted from webhooks
       where webhook_id = $1 and customer_id = $2 for no key update)
     update webhooks set
       enabled = coalesce($3::bool, webhooks.enabled),
       events = coalesce($4::text[], webhooks.events),
       secret = coalesce($5::text, webhooks.secret),
       previous_secret = case when $5::text is null then webhooks.previous_secret else webhooks.secret end,
       previous_secret_until = case when $5::text is null then webhooks.previous_secret_until
         else to_timestamp($6::float8 / 1000) end,
       position = case when is_restarted then ${LATEST_EVENT} else webhooks.position end,
       failure_count = case when is_restarted then 0 else webhooks.failure_count end,
       failing_since = case when is_restarted then null else webhooks.failing_since end,
       last_failure_at = case when is_restarted then null else webhooks.last_failure_at end,
       revision = webhooks.revision + 1
     from old where old.webhook_id = webhooks.webhook_id
     returning ${COLUMNS}, is_restarted as "isRestarted"`,
    [webhookId, customerId, enabled, events, sealedSecret, previousSecretUntil],
  );
  if (row === undefined) return null;
  const { isRestarted, ...webhook } = row;
  // A node that was killed after disabling the webhook may not have canceled the retries.
  if (isRestarted || !webhook.enabled) await cancelRetries(transaction, webhookId);
  return webhook;
}

async function cancelRetries(transaction: Transaction, webhookId: string): Promise<void> {
  await transaction.query(
    `update webhook_deliveries set status = 'canceled', next_attempt_at = null, body = null
     where webhook_id = $1 and next_attempt_at is not null`,
    [webhookId],
  );
}

export type TestTarget = SealedSecrets & { readonly url: string };

/**
 * Reserves a test delivery. Returns null if the webhook does not exist, and the milliseconds to wait if the last test
 * was less than `intervalMs` ago.
 */
export async function reserveTest(
  database: Database,
  customerId: string,
  webhookId: string,
  { now, intervalMs }: { readonly now: number; readonly intervalMs: number },
): Promise<TestTarget | { readonly waitMs: number } | null> {
  const parameters = [webhookId, customerId, now];
  const [target] = await database.query<TestTarget>(
    `update webhooks set last_test_at = to_timestamp($3::float8 / 1000)
     where webhook_id = $1 and customer_id = $2
       and coalesce(last_test_at <= to_timestamp(($3::float8 - $4::float8) / 1000), true)
     returning url, secret as "sealedSecret", previous_secret as "sealedPreviousSecret",
       ${toMillisSql("previous_secret_until")} as "previousSecretUntil"`,
    [...parameters, intervalMs],
  );
  if (target !== undefined) return target;
  const [last] = await database.query<{ at: number }>(
    `select ${toMillisSql("last_test_at")} as at from webhooks where webhook_id = $1 and customer_id = $2`,
    [webhookId, customerId],
  );
  return last === undefined ? null : { waitMs: last.at + intervalMs - now };
}

/** Cancels the retries of all webhooks, and skips all events up to `throughId`. Returns the number of retries. */
export async function cancelWaitingDeliveries(transaction: Transaction, throughId: number): Promise<number> {
  await transaction.query("update webhooks set position = $1, holder = null where position < $1", [throughId]);
  const [row] = await transaction.query<{ count: number }>(
    `with canceled as (
       update webhook_deliveries set status = 'canceled', next_attempt_at = null, body = null
       where next_attempt_at is not null returning 1
     ) select count(*) as count from canceled`,
  );
  return row?.count ?? 0;
}

const DELIVERY_COLUMNS = `event_id as "eventId", event_type as "eventType", status, attempts,
  ${toMillisSql("first_attempt_at")} as "firstAttemptAt", ${toMillisSql("last_attempt_at")} as "lastAttemptAt",
  response_status as "responseStatus", response_head as "responseHead", latency_ms as "latencyMs",
  ${toMillisSql("next_attempt_at")} as "nextAttemptAt", failure`;

/**
 * Selects deliveries of a webhook before an event id, newest event first.
 *
 * @returns null if the customer has no such webhook
 */
export async function selectDeliveries(
  database: Database,
  customerId: string,
  webhookId: string,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<Delivery[] | null> {
  const rows = await database.query<Delivery | { eventId: null }>(
    `select delivery.* from webhooks left join lateral (
       select ${DELIVERY_COLUMNS} from webhook_deliveries
       where webhook_id = $1 and event_id < $3::int8 order by event_id desc limit $4::int4
     ) delivery on true where webhooks.webhook_id = $1 and customer_id = $2 order by "eventId" desc`,
    [webhookId, customerId, before, limit],
    "request",
  );
  if (rows.length === 0) return null;
  return rows.filter((row) => row.eventId !== null);
}
