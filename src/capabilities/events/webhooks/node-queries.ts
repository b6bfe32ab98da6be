import { columnsOf } from "../../../lib/columns-of.ts";
import { deleteRows } from "../../../lib/delete-in-batches.ts";
import { toMillisSql, toTimestampSql } from "../../../lib/timestamp-sql.ts";
import type { Database } from "../../../ports/database.ts";
import type { Delivery, DeliveryMessage, DeliveryTarget, FailureStreak } from "./model.ts";

const DELETE_BATCHES_MAX = 200;

/** SQL condition: the plan of the customer includes webhooks, and the account is not canceled. */
const IS_ENTITLED = `exists (select from customers where customers.customer_id = webhooks.customer_id
  and plan <> 'free' and status <> 'canceled')`;

const TARGET_COLUMNS = `webhook_id as "webhookId", customer_id as "customerId", url, events, secret as "sealedSecret",
  previous_secret as "sealedPreviousSecret", ${toMillisSql("previous_secret_until")} as "previousSecretUntil", revision,
  failure_count as count, ${toMillisSql("failing_since")} as since, ${toMillisSql("last_failure_at")} as "lastAt",
  position`;

/** Extends the lease of the node to `leaseMs` from now, by the database clock. */
export async function renewNode(database: Database, nodeId: string, leaseMs: number): Promise<void> {
  await database.query(
    `with gone as (delete from webhook_nodes where expires_at < clock_timestamp() - interval '1 hour')
     insert into webhook_nodes (node_id, expires_at) values ($1, clock_timestamp() + $2::float8 * interval '1 millisecond')
     on conflict (node_id) do update set expires_at = excluded.expires_at`,
    [nodeId, leaseMs],
  );
}

/** The number of webhooks that each live node should hold, rounded up. */
const SHARE = `select ceil((select count(*) from webhooks where enabled)::float8
  / greatest(1, (select count(*) from webhook_nodes where expires_at > clock_timestamp())))::int8`;

export async function selectShare(database: Database): Promise<number> {
  const [row] = await database.query<{ share: number }>(`select (${SHARE}) as share`);
  return row?.share ?? 0;
}

/**
 * Takes webhooks without a live holder, up to the share of this node.
 *
 * @param held  ids of the webhooks that the node holds
 * @param activeCount  number of held webhooks that may still begin attempts
 */
export async function claimWebhooks(
  database: Database,
  nodeId: string,
  held: readonly string[],
  activeCount: number,
): Promise<DeliveryTarget[]> {
  const rows = await database.query<Omit<DeliveryTarget, "streak"> & FailureStreak>(
    `update webhooks set holder = $1 where webhook_id in (
       select webhook_id from webhooks
       where enabled and ${IS_ENTITLED} and webhook_id <> all($2::text[]) and (holder = $1
         or not exists (select from webhook_nodes where node_id = holder and expires_at > clock_timestamp()))
       order by webhook_id
       limit greatest(0, (${SHARE}) - $3::int8)
       for update skip locked)
     returning ${TARGET_COLUMNS}`,
    [nodeId, held, activeCount],
  );
  return rows.map(({ count, since, lastAt, ...target }) => ({ ...target, streak: { count, since, lastAt } }));
}

/** Releases webhooks, so that any node can claim them. Cancels the retries of disabled webhooks. */
export async function releaseWebhooks(
  database: Database,
  nodeId: string,
  webhookIds: readonly string[],
): Promise<void> {
  await database.query(
    `with released as (
       update webhooks set holder = null where webhook_id = any($1::text[]) and holder = $2 returning webhook_id, enabled
     )
     update webhook_deliveries set status = 'canceled', next_attempt_at = null, body = null
     from released where released.webhook_id = webhook_deliveries.webhook_id and not enabled and next_attempt_at is not null`,
    [webhookIds, nodeId],
  );
}

export async function deleteNode(database: Database, nodeId: string): Promise<void> {
  await database.query("delete from webhook_nodes where node_id = $1", [nodeId]);
}

/** Returns the revisions of the given webhooks to which this node may deliver now. */
export async function selectDeliverable(
  database: Database,
  nodeId: string,
  webhookIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await database.query<{ webhookId: string; revision: number }>(
    `select webhook_id as "webhookId", revision from webhooks
     where webhook_id = any($1::text[]) and holder = $2 and enabled and ${IS_ENTITLED}`,
    [webhookIds, nodeId],
  );
  return new Map(rows.map(({ webhookId, revision }) => [webhookId, revision]));
}

/** A delivery that waits for a retry. The body is null if the retry is not due. */
type WaitingRow = Omit<DeliveryMessage, "body"> & { readonly body: string | null; readonly nextAttemptAt: number };

/** Selects the due retries of a webhook, and the time of the next retry. */
export async function selectRetries(
  database: Database,
  webhookId: string,
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<{ readonly due: DeliveryMessage[]; readonly nextAt: number | null }> {
  const rows = await database.query<WaitingRow>(
    `select event_id as "eventId", event_type as "eventType", attempts,
       ${toMillisSql("first_attempt_at")} as "firstAttemptAt", ceil(${toMillisSql("next_attempt_at")}) as "nextAttemptAt",
       case when next_attempt_at <= to_timestamp($2::float8 / 1000) then body end as body
     from webhook_deliveries where webhook_id = $1 and next_attempt_at is not null
     order by next_attempt_at limit $3::int4`,
    [webhookId, now, limit],
  );
  const due = rows.flatMap(({ body, nextAttemptAt: _, ...row }) => (body === null ? [] : [{ ...row, body }]));
  // If the page is full of due retries, `nextAt` is null, and the caller reads the next page after it has sent them.
  return { due, nextAt: rows.find(({ body }) => body === null)?.nextAttemptAt ?? null };
}

/** Changed state of a webhook after attempts. */
export interface WebhookState {
  readonly webhookId: string;
  readonly revision: number;
  readonly position: number;
  /** Null if no attempt has ended. */
  readonly streak: FailureStreak | null;
  readonly disables: boolean;
}

export interface DeliveryState extends Delivery {
  readonly webhookId: string;
  /** Stored only if the status is `retrying`. */
  readonly body: string;
}

/**
 * Writes the results of attempts, if this node still holds the webhook. Failures are not counted if the customer has
 * changed the webhook since. The input has at most one result per webhook and event, and one state per webhook.
 */
const WRITE_RESULTS = `
with state as (
  select * from unnest($2::text[], $3::int4[], $4::int8[], $5::int4[], $6::float8[], $7::float8[], $8::bool[])
    as state (webhook_id, revision, position, failures, since_ms, last_ms, disables)
), held as (
  update webhooks set
    position = greatest(webhooks.position, state.position),
    failure_count = case when webhooks.revision = state.revision then coalesce(failures, failure_count) else failure_count end,
    failing_since = case when webhooks.revision = state.revision and failures is not null
      then to_timestamp(since_ms / 1000) else failing_since end,
    last_failure_at = case when webhooks.revision = state.revision and failures is not null
      then to_timestamp(last_ms / 1000) else last_failure_at end,
    enabled = enabled and not (disables and webhooks.revision = state.revision)
  from state where webhooks.webhook_id = state.webhook_id and webhooks.holder = $1
  returning webhooks.webhook_id, webhooks.enabled
)
insert into webhook_deliveries (webhook_id, event_id, event_type, status, attempts, first_attempt_at, last_attempt_at,
  response_status, response_head, latency_ms, next_attempt_at, body, failure)
select webhook_id, event_id, event_type, case when is_dropped then 'canceled' else status end, attempts,
  to_timestamp(first_ms / 1000), to_timestamp(last_ms / 1000), response_status, response_head, latency_ms,
  case when not is_dropped then to_timestamp(next_ms / 1000) end, case when not is_dropped then body end, failure
from unnest($9::text[], $10::int8[], $11::text[], $12::text[], $13::int4[], $14::float8[], $15::float8[], $16::int4[],
  $17::text[], $18::int4[], $19::float8[], $20::text[], $21::text[]) as result (webhook_id, event_id, event_type, status, attempts,
  first_ms, last_ms, response_status, response_head, latency_ms, next_ms, body, failure)
join held using (webhook_id), lateral (select status = 'retrying' and not enabled as is_dropped) as fate
on conflict (webhook_id, event_id) do update set status = excluded.status, attempts = excluded.attempts,
  last_attempt_at = excluded.last_attempt_at, response_status = excluded.response_status,
  response_head = excluded.response_head, latency_ms = excluded.latency_ms,
  next_attempt_at = excluded.next_attempt_at, body = excluded.body, failure = excluded.failure
where webhook_deliveries.status <> 'delivered'`;

export async function writeResults(
  database: Database,
  nodeId: string,
  states: readonly WebhookState[],
  deliveries: readonly DeliveryState[],
): Promise<void> {
  await database.query(WRITE_RESULTS, [
    nodeId,
    ...columnsOf(states, "webhookId", "revision", "position"),
    states.map(({ streak }) => streak?.count ?? null),
    states.map(({ streak }) => streak?.since ?? null),
    states.map(({ streak }) => streak?.lastAt ?? null),
    ...columnsOf(states, "disables"),
    ...columnsOf(deliveries, "webhookId", "eventId", "eventType", "status", "attempts"),
    ...columnsOf(deliveries, "firstAttemptAt", "lastAttemptAt", "responseStatus", "responseHead"),
    ...columnsOf(deliveries, "latencyMs", "nextAttemptAt"),
    deliveries.map(({ status, body }) => (status === "retrying" ? body : null)),
    ...columnsOf(deliveries, "failure"),
  ]);
}

export async function countWaiting(database: Database, nodeId: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*) as count from webhook_deliveries join webhooks using (webhook_id)
     where next_attempt_at is not null and holder = $1`,
    [nodeId],
  );
  return row?.count ?? 0;
}

/** Deletes ended deliveries whose first attempt is older than `before`. Returns the number of deleted deliveries. */
export function deleteOldDeliveries(database: Database, before: number): Promise<number> {
  const condition = `first_attempt_at < ${toTimestampSql("$1")} and next_attempt_at is null`;
  return deleteRows(database, "webhook_deliveries", condition, before, { batchesMax: DELETE_BATCHES_MAX });
}
