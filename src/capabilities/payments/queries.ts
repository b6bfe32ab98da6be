import type { Database } from "../../ports/database.ts";
import type { Authorization, Hex, PaymentState, SignedAuthorization, StoredResponse } from "./model.ts";

/** How long an answer is kept for a client that lost it on the way. */
const ANSWER_MINUTES = 60;
/** All at once: fewer than a facilitator's connections, so that payers find some free. */
export const UNKNOWN_BATCH_SIZE = 8;
const FIRST_TRY_SECONDS = 5;
const TRY_SECONDS_MAX = 600;
/** A day and a half of asking; from then on only the payer's own resending asks. */
const TRIES_MAX = 200;
/** Charged payments are books; what was never charged is only clutter. */
const CHARGED_DAYS = 400;
const UNCHARGED_DAYS = 2;
const DELETED_AT_ONCE = 10_000;
const DELETIONS_PER_ROUND = 50;

/** Names one authorization in the world. All in lower case. */
export interface PaymentKey {
  readonly network: string;
  readonly asset: string;
  readonly payer: Hex;
  readonly nonce: Hex;
}

/** A row that is ours until its lease ends; whatever moves it shows the attempt. */
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
  readonly answer: StoredResponse | null;
}

const leaseEnd = (parameter: number) => `clock_timestamp() + $${parameter}::float8 * interval '1 millisecond'`;

/**
 * Takes an authorization that nobody has, that was let go, or whose worker died before it could have been charged. Of any
 * number of tries at once, on any number of nodes, one gets it; the others get null.
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
      ...[payment.network, payment.asset, payment.payer, payment.nonce, payment.amount, payment.validBefore],
      ...[payment.authorizationHash, payment.requestHash, JSON.stringify(payment.signed), attempt, leaseMs],
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
    ...{ paymentId, state, reason, transaction, answer: answerOf(row) },
    isLeased: row.is_leased,
    isSameAuthorization: row.is_same_authorization,
    isSameRequest: row.is_same_request,
  };
}

function answerOf({ response_status: status, response_headers: headers, response_body: body }: FoundRow) {
  return status === null || headers === null || body === null ? null : { status, headers: JSON.parse(headers), body };
}

/**
 * Takes a row that is charged and owed its answer, or whose settlement is unknown, from whoever had it last. An answer that
 * was kept for another request than `requestHash` is forgotten.
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
  /** For how long the row stays ours; 0 lets it go. */
  readonly leaseMs: number;
  readonly reason?: string | null;
  readonly transaction?: string;
  readonly answer?: StoredResponse | null;
}

/** Moves a row on that is still ours; false where it is not. A transfer that has paid for another call moves nothing. */
export async function transitionPayment(
  database: Database,
  { paymentId, attempt }: PaymentLease,
  move: PaymentTransition,
): Promise<boolean> {
  const { answer = null } = move;
  const rows = await database.query(
    `update payments as held set state = $4, lease_until = ${leaseEnd(5)}, updated_at = clock_timestamp(),
       reason = coalesce($6::text, held.reason), transaction_hash = coalesce($7::text, held.transaction_hash),
       response_status = coalesce($8::int4, held.response_status), response_headers = coalesce($9::text, held.response_headers),
       response_body = coalesce($10::bytea, held.response_body),
       response_until = case when $8::int4 is null then held.response_until
         else clock_timestamp() + interval '${ANSWER_MINUTES} minutes' end,
       authorization_json = case when $4::text in ('settled', 'delivered', 'rejected', 'released') then null
         else held.authorization_json end,
       next_try_at = case when $4::text = 'unknown'
         then coalesce(held.next_try_at, clock_timestamp() + interval '${FIRST_TRY_SECONDS} seconds') end
     where held.payment_id = $1 and held.attempt = $2 and held.state = any($3::text[])
       and not exists (select 1 from payments as other where other.network = held.network
         and other.transaction_hash = $7::text and other.payment_id <> held.payment_id)
     returning payment_id`,
    [
      ...[paymentId, attempt, move.from, move.to, move.leaseMs, move.reason ?? null, move.transaction ?? null],
      ...(answer === null ? [null, null, null] : [answer.status, JSON.stringify(answer.headers), answer.body]),
    ],
  );
  return rows.length > 0;
}

/**
 * Ends what dead nodes left behind: what cannot have been charged is usable again, what may have been is unknown. Answers
 * kept long enough are forgotten.
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
  /** How often the upkeep has asked, this time included. */
  readonly tries: number;
  readonly signed: SignedAuthorization;
}

/** Unknown settlements that are to be asked for again now, each taken for `leaseMs`. A payer's own asking is no try. */
export async function takeUnknown(database: Database, attempt: string, leaseMs: number): Promise<UnknownPayment[]> {
  const rows = await database.query<{ payment_id: number; tries: number; authorization_json: string }>(
    `update payments set attempt = $1, lease_until = ${leaseEnd(2)}, tries = tries + 1, next_try_at = clock_timestamp()
         + least(${TRY_SECONDS_MAX}, ${FIRST_TRY_SECONDS} * power(2, least(tries + 1, 10))) * interval '1 second'
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

/** Deletes what is past its use. What is charged and unanswered, or unknown, stays as long as what is answered. */
export async function deleteOldPayments(database: Database, atOnce = DELETED_AT_ONCE): Promise<number> {
  let deleted = 0;
  for (let round = 0; round < DELETIONS_PER_ROUND; round++) {
    const rows = await database.query(
      `delete from payments where payment_id in (
         select payment_id from payments
         where updated_at < clock_timestamp() - interval '${UNCHARGED_DAYS} days'
           and valid_before < clock_timestamp() - interval '${UNCHARGED_DAYS} days'
           and (state in ('rejected', 'released') or updated_at < clock_timestamp() - interval '${CHARGED_DAYS} days')
         limit $1
       ) returning payment_id`,
      [atOnce],
    );
    deleted += rows.length;
    if (rows.length < atOnce) break;
  }
  return deleted;
}
