import { columnsOf } from "../../../lib/columns-of.ts";
import { toTimestampSql } from "../../../lib/timestamp-sql.ts";
import type { Database, Transaction } from "../../../ports/database.ts";
import { type ActivityBatch, type DailyUsage, RECENT_REQUESTS_MAX, type RecentRequest } from "./model.ts";

/**
 * Adds a batch to the stored usage and requests. A batch whose serial was already written has no effect. Data of
 * customers that no longer exist is discarded.
 *
 * @param serial  increases with each batch of the node
 */
export async function writeActivityBatch(
  transaction: Transaction,
  nodeId: string,
  serial: number,
  { usage, requests }: ActivityBatch,
  now: number,
): Promise<void> {
  const acceptedRows = await transaction.query(
    `insert into activity_batches as before (node_id, last_batch, written_at) values ($1, $2, ${toTimestampSql("$3")})
     on conflict (node_id) do update set last_batch = excluded.last_batch, written_at = excluded.written_at
     where before.last_batch < excluded.last_batch returning node_id`,
    [nodeId, serial, now],
  );
  if (acceptedRows.length === 0) return;
  const customerIds = [...new Set([...usage, ...requests].map(({ customerId }) => customerId))].sort();
  // The lock makes a concurrent deletion wait for this transaction. Deleted customers are not found.
  const customers = await transaction.query<{ id: string }>(
    "select customer_id as id from customers where customer_id = any($1::text[]) order by 1 for key share",
    [customerIds],
  );
  const existingIds = new Set(customers.map(({ id }) => id));
  const isOfCustomer = ({ customerId }: { readonly customerId: string }) => existingIds.has(customerId);
  await addUsage(transaction, usage.filter(isOfCustomer));
  await insertRequests(transaction, requests.filter(isOfCustomer));
}

async function addUsage(transaction: Transaction, usage: ActivityBatch["usage"]): Promise<void> {
  if (usage.length === 0) return;
  const rows = usage.map(({ counted, ...row }) => ({ ...row, ...counted }));
  const keys = columnsOf(rows, "customerId", "day", "keyId");
  const counts = columnsOf(rows, "requests", "failed", "LISTING", "INSIGHT", "STRATEGY", "DEEP");
  await transaction.query(
    `insert into usage_days as stored (customer_id, day, key_id, requests, failed, listing, insight, strategy, deep)
     select * from unnest($1::text[], $2::text[]::date[], $3::text[], $4::int8[], $5::int8[], $6::int8[], $7::int8[],
       $8::int8[], $9::int8[])
     order by 1, 2, 3
     on conflict (customer_id, day, key_id) do update set
       requests = stored.requests + excluded.requests,
       failed = stored.failed + excluded.failed,
       listing = stored.listing + excluded.listing,
       insight = stored.insight + excluded.insight,
       strategy = stored.strategy + excluded.strategy,
       deep = stored.deep + excluded.deep`,
    [...keys, ...counts],
  );
}

/** Inserts requests, then deletes each customer's oldest requests beyond `RECENT_REQUESTS_MAX`. */
const REQUEST_COLUMNS = [
  "customerId",
  "occurredAt",
  "requestId",
  "method",
  "route",
  "status",
  "code",
  "durationMs",
  "keyId",
] as const;

async function insertRequests(transaction: Transaction, requests: ActivityBatch["requests"]): Promise<void> {
  if (requests.length === 0) return;
  const rows = requests.map((request) => ({ ...request, occurredAt: request.occurredAt.getTime() }));
  await transaction.query(
    `insert into recent_requests
       (customer_id, occurred_at, request_id, method, route, status, code, duration_ms, key_id)
     select customer_id, ${toTimestampSql("occurred_at")}, request_id, method, route, status, code, duration_ms,
       key_id
     from unnest($1::text[], $2::float8[], $3::text[], $4::text[], $5::text[], $6::int4[], $7::text[], $8::float8[],
       $9::text[]) as sent (customer_id, occurred_at, request_id, method, route, status, code, duration_ms, key_id)`,
    columnsOf(rows, ...REQUEST_COLUMNS),
  );
  // Skips rows that another node is deleting, so that two nodes cannot deadlock.
  await transaction.query(
    `with ranked as (
       select request_number,
         row_number() over (partition by customer_id, status >= 400 order by occurred_at desc, request_number desc) as rank
       from recent_requests where customer_id = any($1::text[])
     )
     delete from recent_requests where request_number in (
       select request_number from recent_requests join ranked using (request_number) where rank > ${RECENT_REQUESTS_MAX}
       order by request_number for update of recent_requests skip locked)`,
    [[...new Set(requests.map(({ customerId }) => customerId))]],
  );
}

/** Selects the usage of a customer from the day `since` on, oldest day first. */
export async function selectUsage(
  database: Pick<Database, "query">,
  customerId: string,
  since: string,
): Promise<readonly DailyUsage[]> {
  const rows = await database.query<
    Omit<DailyUsage, "counted"> & Record<"listing" | "insight" | "strategy" | "deep", number>
  >(
    `select to_char(day, 'YYYY-MM-DD') as day, key_id as "keyId", requests, failed, listing, insight, strategy, deep
     from usage_days where customer_id = $1 and day >= $2::text::date order by day, key_id`,
    [customerId, since],
    "request",
  );
  return rows.map(({ listing, insight, strategy, deep, ...row }) => ({
    ...row,
    counted: { LISTING: listing, INSIGHT: insight, STRATEGY: strategy, DEEP: deep },
  }));
}

/** Selects the last requests of a customer that are not older than `since`, newest first. */
export async function selectRequests(
  database: Pick<Database, "query">,
  customerId: string,
  { since, onlyFailed }: { readonly since: number; readonly onlyFailed: boolean },
): Promise<readonly RecentRequest[]> {
  return database.query<RecentRequest>(
    `select occurred_at as "occurredAt", request_id as "requestId", method, route, status, code,
       duration_ms as "durationMs", key_id as "keyId"
     from recent_requests
     where customer_id = $1 and occurred_at >= ${toTimestampSql("$2")} and (status >= 400 or not $3::boolean)
     order by occurred_at desc, request_number desc limit ${RECENT_REQUESTS_MAX}`,
    [customerId, since, onlyFailed],
    "request",
  );
}

/** Deletes the usage and requests of a customer. The customer must be locked or deleted. */
export async function deleteActivity(transaction: Transaction, customerId: string): Promise<void> {
  await transaction.query("delete from usage_days where customer_id = $1", [customerId]);
  await transaction.query("delete from recent_requests where customer_id = $1", [customerId]);
}
