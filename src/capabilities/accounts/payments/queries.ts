import { deleteRows } from "../../../lib/delete-in-batches.ts";
import type { Database } from "../../../ports/database.ts";
import { FIRST_RETRY_SECONDS, leaseEndSql } from "./ledger.ts";
import type { SignedAuthorization } from "./model.ts";

/**
 * Number of unknown payments resolved concurrently; smaller than the number of facilitator connections, which payers
 * also use.
 */
export const UNKNOWN_PAYMENTS_BATCH_SIZE = 8;
const RETRY_SECONDS_MAX = 600;
/** Maximum number of retries: about 36 hours. Afterwards the outcome is queried only if the payer sends the payment again. */
const RECONCILER_TRIES_MAX = 200;
/** Retention of charged payments, because they are accounting records. */
const CHARGED_RETENTION_DAYS = 400;
/** Retention of payments that were never charged. */
const UNCHARGED_RETENTION_DAYS = 2;
const DELETE_BATCH_SIZE = 10_000;
const DELETE_BATCHES_MAX = 50;

/**
 * Recovers payments with an expired lease: uncharged payments become released; possibly charged payments become
 * unknown. Deletes stored responses that are older than an hour.
 */
export async function sweepPayments(database: Database): Promise<void> {
  await database.query(
    `update payments set updated_at = clock_timestamp(), next_try_at = clock_timestamp(),
       authorization_json = case when state = 'settling' then authorization_json end,
       state = case when state = 'settling' then 'unknown' else 'released' end
     where state in ('reserved', 'verified', 'settling') and lease_until <= clock_timestamp()`,
  );
  await database.query(
    `update payments set response_status = null, response_headers = null, response_body = null, response_until = null
     where response_until < clock_timestamp()`,
  );
}

export async function countUnknownPayments(database: Database): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    "select count(*)::int4 as count from payments where state = 'unknown'",
  );
  return row?.count ?? 0;
}

export interface UnknownPayment {
  readonly paymentId: number;
  /** Number of reconciler attempts, including this one. */
  readonly tries: number;
  readonly signed: SignedAuthorization;
}

/** Leases the unknown settlements that are due for a retry, for `leaseMs`. Only reconciler attempts count as tries. */
export async function leaseUnknownPayments(
  database: Database,
  attempt: string,
  leaseMs: number,
): Promise<UnknownPayment[]> {
  const rows = await database.query<{ paymentId: number; tries: number; json: string }>(
    `update payments set attempt = $1, lease_until = ${leaseEndSql(2)}, tries = tries + 1, next_try_at = clock_timestamp()
         + least(${RETRY_SECONDS_MAX}, ${FIRST_RETRY_SECONDS} * power(2, least(tries + 1, 10))) * interval '1 second'
     where payment_id in (
       select payment_id from payments
       where state = 'unknown' and lease_until <= clock_timestamp() and next_try_at <= clock_timestamp()
         and tries < ${RECONCILER_TRIES_MAX}
       order by next_try_at limit ${UNKNOWN_PAYMENTS_BATCH_SIZE} for update skip locked
     ) returning payment_id as "paymentId", tries, authorization_json as json`,
    [attempt, leaseMs],
  );
  return rows.map(({ json, ...payment }) => ({ ...payment, signed: JSON.parse(json) }));
}

/** Deletes payments after their retention. Returns the number of deleted payments. */
export function deleteOldPayments(database: Database, rowsMax = DELETE_BATCH_SIZE): Promise<number> {
  const condition = `updated_at < clock_timestamp() - interval '${UNCHARGED_RETENTION_DAYS} days'
    and valid_before < clock_timestamp() - interval '${UNCHARGED_RETENTION_DAYS} days'
    and (state in ('rejected', 'released') or updated_at < clock_timestamp() - $1::int4 * interval '1 day')`;
  return deleteRows(database, "payments", condition, CHARGED_RETENTION_DAYS, {
    rowsMax,
    batchesMax: DELETE_BATCHES_MAX,
  });
}
