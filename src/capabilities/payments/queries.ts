import type { Database } from "../../ports/database.ts";
import type { Authorization, Hex, PaymentState, SignedAuthorization, StoredResponse } from "./model.ts";

/** How long a response is stored for a client that did not receive it. */
const RESPONSE_MINUTES = 60;
/** Processed concurrently. Fewer than the connections to the facilitator, so that some remain for payers. */
export const UNKNOWN_BATCH_SIZE = 8;
const FIRST_RETRY_SECONDS = 5;
const RETRY_SECONDS_MAX = 600;
/** About a day and a half of retries. Afterwards only a payer's own resend queries the outcome. */
const TRIES_MAX = 200;
/** Retention of charged payments, which are accounting records. */
const CHARGED_DAYS = 400;
/** Retention of payments that were never charged. */
const UNCHARGED_DAYS = 2;
const DELETE_BATCH_SIZE = 10_000;
const DELETE_BATCHES_MAX = 50;

/** Globally unique key of an authorization. All in lower case. */
export interface PaymentKey {
  readonly network: string;
  readonly asset: string;
  readonly payer: Hex;
  readonly nonce: Hex;
}

/** The exclusive right to change a payment until the lease expires. Every transition checks the attempt id. */
export interface PaymentLease {
  readonly paymentId: number;
  readonly attempt: string;
}

export interface NewPayment extends PaymentKey {
  readonly amount: string;
  /** Unix seconds. */
  readonly validBefore: number;
  readonly authorizationHash: Uint8Array;
  readonly requestHash: Uint8Array;
  readonly signed: SignedAuthorization;
}

export interface FoundPayment {
  readonly paymentId: number;
  readonly state: PaymentState;
  readonly isLeased: boolean;
  readonly isSameAuthorization: boolean;
  readonly isSameRequest: boolean;
  readonly reason: string | null;
  readonly transaction: string | null;
  readonly response: StoredResponse | null;
}

const leaseEnd = (parameter: number) => `clock_timestamp() + $${parameter}::float8 * interval '1 millisecond'`;

/**
 * Reserves an authorization that is new, released, or whose lease expired before it could have been charged. Of any number
 * of concurrent attempts on any number of nodes one gets the lease; the others get null.
 */
export async function reservePayment(
  database: Database,
  payment: NewPayment,
  attempt: string,
  leaseMs: number,
): Promise<PaymentLease | null> {
  const [row] = await database.query<{ payment_id: number }>(
    `insert into payments as held (network, asset, payer, nonce, amount, valid_before, authorization_hash, request_hash,
       authorization_json, state, attempt, lease_until)
     values ($1, $2, $3, $4, $5, to_timestamp($6::float8), $7, $8, $9, 'reserved', $10, ${leaseEnd(11)})
     on conflict (network, asset, payer, nonce) do update set
       amount = excluded.amount, valid_before = excluded.valid_before, authorization_hash = excluded.authorization_hash,
       request_hash = excluded.request_hash, authorization_json = excluded.authorization_json, state = 'reserved',
       attempt = excluded.attempt, lease_until = excluded.lease_until, updated_at = clock_timestamp()
     where held.state = 'released' or (held.state in ('reserved', 'verified') and held.lease_until <= clock_timestamp())
     returning payment_id`,
    [
      payment.network,
      payment.asset,
      payment.payer,
      payment.nonce,
      payment.amount,
      payment.validBefore,
      payment.authorizationHash,
      payment.requestHash,
      JSON.stringify(payment.signed),
      attempt,
      leaseMs,
    ],
  );
  return row === undefined ? null : { paymentId: row.payment_id, attempt };
}

interface FoundRow {
  [column: string]: unknown;
  payment_id: number;
  state: PaymentState;
  is_leased: boolean;
  is_same_authorization: boolean;
  is_same_request: boolean;
  reason: string | null;
  transaction_hash: string | null;
  response_status: number | null;
  response_headers: string | null;
  response_body: Uint8Array | null;
}

export async function findPayment(
  database: Database,
  key: PaymentKey,
  hashes: { readonly authorizationHash: Uint8Array; readonly requestHash: Uint8Array },
): Promise<FoundPayment | null> {
  const [row] = await database.query<FoundRow>(
    `select payment_id, state, lease_until > clock_timestamp() as is_leased, authorization_hash = $5 as is_same_authorization,
       request_hash = $6 as is_same_request, reason, transaction_hash,
       response_status, response_headers, case when response_until > clock_timestamp() then response_body end as response_body
     from payments where network = $1 and asset = $2 and payer = $3 and nonce = $4`,
    [key.network, key.asset, key.payer, key.nonce, hashes.authorizationHash, hashes.requestHash],
    "request",
  );
  if (row === undefined) return null;
  const { payment_id: paymentId, state, reason, transaction_hash: transaction } = row;
  return {
    paymentId,
    state,
    reason,
    transaction,
    response: storedResponseOf(row),
    isLeased: row.is_leased,
    isSameAuthorization: row.is_same_authorization,
    isSameRequest: row.is_same_request,
  };
}

function storedResponseOf({ response_status: status, response_headers: headers, response_body: body }: FoundRow) {
  return status === null || headers === null || body === null ? null : { status, headers: JSON.parse(headers), body };
}

/**
 * Leases a charged payment without a delivered response, or an unknown settlement, once the previous lease has expired.
 * Deletes a response that is stored for a request other than `requestHash`.
 */
export async function takeOver(
  database: Database,
  paymentId: number,
  state: "settled" | "unknown",
  attempt: string,
  leaseMs: number,
  requestHash: Uint8Array | null = null,
): Promise<PaymentLease | null> {
  const rows = await database.query(
    `update payments set attempt = $3, lease_until = ${leaseEnd(4)}, request_hash = coalesce($5::bytea, request_hash),
       response_body = case when $5::bytea <> request_hash then null else response_body end, updated_at = clock_timestamp()
     where payment_id = $1 and state = $2 and lease_until <= clock_timestamp() returning payment_id`,
    [paymentId, state, attempt, leaseMs, requestHash],
  );
  return rows.length === 0 ? null : { paymentId, attempt };
}

export interface PaymentTransition {
  readonly from: readonly PaymentState[];
  readonly to: PaymentState;
  /** New duration of the lease; 0 ends it. */
  readonly leaseMs: number;
  readonly reason?: string | null;
  readonly transaction?: string;
  readonly response?: StoredResponse | null;
}

/** Changes the state of a leased payment. Returns false if the lease was lost, or if `transaction` belongs to another payment. */
export async function transitionPayment(
  database: Database,
  { paymentId, attempt }: PaymentLease,
  transition: PaymentTransition,
): Promise<boolean> {
  const { response = null } = transition;
  const rows = await database.query(
    `update payments as held set state = $4, lease_until = ${leaseEnd(5)}, updated_at = clock_timestamp(),
       reason = coalesce($6::text, held.reason), transaction_hash = coalesce($7::text, held.transaction_hash),
       response_status = coalesce($8::int4, held.response_status), response_headers = coalesce($9::text, held.response_headers),
       response_body = coalesce($10::bytea, held.response_body),
       response_until = case when $8::int4 is null then held.response_until
         else clock_timestamp() + interval '${RESPONSE_MINUTES} minutes' end,
       authorization_json = case when $4::text in ('settled', 'delivered', 'rejected', 'released') then null
         else held.authorization_json end,
       next_try_at = case when $4::text = 'unknown'
         then coalesce(held.next_try_at, clock_timestamp() + interval '${FIRST_RETRY_SECONDS} seconds') end
     where held.payment_id = $1 and held.attempt = $2 and held.state = any($3::text[])
       and not exists (select 1 from payments as other where other.network = held.network
         and other.transaction_hash = $7::text and other.payment_id <> held.payment_id)
     returning payment_id`,
    [
      paymentId,
      attempt,
      transition.from,
      transition.to,
      transition.leaseMs,
      transition.reason ?? null,
      transition.transaction ?? null,
      ...(response === null ? [null, null, null] : [response.status, JSON.stringify(response.headers), response.body]),
    ],
  );
  return rows.length > 0;
}

/**
 * Recovers payments with an expired lease: those that cannot have been charged are released, those that may have been become
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

export async function countUnknown(database: Database): Promise<number> {
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

/** Leases the unknown settlements that are due for a retry, for `leaseMs`. A payer's resend does not count as a try. */
export async function takeUnknown(database: Database, attempt: string, leaseMs: number): Promise<UnknownPayment[]> {
  const rows = await database.query<{ payment_id: number; tries: number; authorization_json: string }>(
    `update payments set attempt = $1, lease_until = ${leaseEnd(2)}, tries = tries + 1, next_try_at = clock_timestamp()
         + least(${RETRY_SECONDS_MAX}, ${FIRST_RETRY_SECONDS} * power(2, least(tries + 1, 10))) * interval '1 second'
     where payment_id in (
       select payment_id from payments
       where state = 'unknown' and lease_until <= clock_timestamp() and next_try_at <= clock_timestamp()
         and tries < ${TRIES_MAX}
       order by next_try_at limit ${UNKNOWN_BATCH_SIZE} for update skip locked
     ) returning payment_id, tries, authorization_json`,
    [attempt, leaseMs],
  );
  return rows.map(({ payment_id: paymentId, tries, authorization_json: json }) => {
    const { signature, authorization } = JSON.parse(json) as { signature: Hex; authorization: Authorization };
    return { paymentId, tries, signed: { signature, authorization } };
  });
}

/** Deletes payments after their retention. Charged payments without a response and unknown ones are kept as long as delivered ones. */
export async function deleteOldPayments(database: Database, batchSize = DELETE_BATCH_SIZE): Promise<number> {
  let deleted = 0;
  for (let batch = 0; batch < DELETE_BATCHES_MAX; batch++) {
    const rows = await database.query(
      `delete from payments where payment_id in (
         select payment_id from payments
         where updated_at < clock_timestamp() - interval '${UNCHARGED_DAYS} days'
           and valid_before < clock_timestamp() - interval '${UNCHARGED_DAYS} days'
           and (state in ('rejected', 'released') or updated_at < clock_timestamp() - interval '${CHARGED_DAYS} days')
         limit $1
       ) returning payment_id`,
      [batchSize],
    );
    deleted += rows.length;
    if (rows.length < batchSize) break;
  }
  return deleted;
}
