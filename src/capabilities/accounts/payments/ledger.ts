import type { Database } from "../../../ports/database.ts";
import type { Random } from "../../../ports/random.ts";
import {
  createPaymentInProgressError,
  type Hex,
  PAYMENT_STATES,
  type PaymentState,
  type SignedAuthorization,
  type StoredResponse,
} from "./model.ts";

const ATTEMPT_ID_BYTES = 12;
/** Retention of responses for clients that did not receive them. */
const RESPONSE_RETENTION_MINUTES = 60;
/** Delay before the first retry of an unknown settlement. */
export const FIRST_RETRY_SECONDS = 5;

/** Maximum number of repetitions of a delivered call. More would deliver new data without payment. */
const REPETITIONS_MAX = 4;

/** The exclusive right to change a payment until the lease expires. Every transition compares the attempt id. */
export interface PaymentLease {
  readonly paymentId: number;
  readonly attempt: string;
}

export interface NewPayment {
  /** Network, asset, payer and nonce identify an authorization globally. All in lower case. */
  readonly network: string;
  readonly asset: string;
  readonly payer: Hex;
  readonly nonce: Hex;
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
  /**
   * Whether the response was delivered less than an hour ago, was too large to be stored, and was repeated fewer than four
   * times.
   */
  readonly isRepeatable: boolean;
}

export interface PaymentTransition {
  readonly from: readonly PaymentState[];
  readonly to: PaymentState;
  /** New duration of the lease; 0 ends it. */
  readonly leaseMs: number;
  readonly reason?: string | null;
  readonly transaction?: string;
  readonly response?: StoredResponse | null;
  /** Whether the same request may run again for an hour, because its response is not stored. */
  readonly isRepeatable?: boolean;
}

type ResponseColumns = { status: number | null; headers: string | null; body: Uint8Array | null };

/** SQL for the end of a lease that starts now; `parameter` is the number of the bind parameter with its duration in ms. */
export const leaseEndSql = (parameter: number) =>
  `clock_timestamp() + $${parameter}::float8 * interval '1 millisecond'`;

export const newAttemptId = (random: Random) => Buffer.from(random.bytes(ATTEMPT_ID_BYTES)).toString("base64url");

/** The payments table. Counts the transitions made by this process. */
export class PaymentLedger {
  readonly counts = Object.fromEntries(PAYMENT_STATES.map((state) => [state, 0])) as Record<PaymentState, number>;
  readonly #database: Database;
  readonly #random: Random;

  constructor(database: Database, random: Random) {
    this.#database = database;
    this.#random = random;
  }

  /**
   * Reserves an authorization that is new or released, or whose lease expired before a charge was possible. Of any
   * number of concurrent attempts on all nodes, one receives the lease; the others receive null.
   */
  async reserve(payment: NewPayment, leaseMs: number): Promise<PaymentLease | null> {
    const attempt = newAttemptId(this.#random);
    const { network, asset, payer, nonce, amount, validBefore, authorizationHash, requestHash } = payment;
    const signedJson = JSON.stringify(payment.signed);
    const [row] = await this.#database.query<{ payment_id: number }>(
      `insert into payments as held (network, asset, payer, nonce, amount, valid_before, authorization_hash, request_hash,
         authorization_json, state, attempt, lease_until)
       values ($1, $2, $3, $4, $5, to_timestamp($6::float8), $7, $8, $9, 'reserved', $10, ${leaseEndSql(11)})
       on conflict (network, asset, payer, nonce) do update set
         amount = excluded.amount, valid_before = excluded.valid_before, authorization_hash = excluded.authorization_hash,
         request_hash = excluded.request_hash, authorization_json = excluded.authorization_json, state = 'reserved',
         attempt = excluded.attempt, lease_until = excluded.lease_until, updated_at = clock_timestamp()
       where held.state = 'released' or (held.state in ('reserved', 'verified') and held.lease_until <= clock_timestamp())
       returning payment_id`,
      [network, asset, payer, nonce, amount, validBefore, authorizationHash, requestHash, signedJson, attempt, leaseMs],
    );
    if (row === undefined) return null;
    this.counts.reserved += 1;
    return { paymentId: row.payment_id, attempt };
  }

  async find(payment: NewPayment): Promise<FoundPayment | null> {
    const [row] = await this.#database.query<Omit<FoundPayment, "response"> & ResponseColumns>(
      `select payment_id as "paymentId", state, lease_until > clock_timestamp() as "isLeased",
         authorization_hash = $5 as "isSameAuthorization", request_hash = $6 as "isSameRequest", reason,
         state = 'delivered' and response_body is null and response_until > clock_timestamp()
           and repetitions < ${REPETITIONS_MAX} as "isRepeatable",
         transaction_hash as transaction, response_status as status, response_headers as headers,
         case when response_until > clock_timestamp() then response_body end as body
       from payments where network = $1 and asset = $2 and payer = $3 and nonce = $4`,
      [payment.network, payment.asset, payment.payer, payment.nonce, payment.authorizationHash, payment.requestHash],
      "request",
    );
    if (row === undefined) return null;
    const { status, headers, body, ...found } = row;
    const isStored = status !== null && headers !== null && body !== null;
    return { ...found, response: isStored ? { status, headers: JSON.parse(headers), body } : null };
  }

  /**
   * Leases a charged payment without a delivered response, or an unknown settlement, once the previous lease has
   * expired. Deletes a response that is stored for a request other than `requestHash`.
   *
   * @throws AppError `payment_in_progress` if another process has leased the payment
   */
  async takeOver(
    paymentId: number,
    state: "settled" | "unknown" | "delivered",
    leaseMs: number,
    requestHash: Uint8Array | null = null,
  ): Promise<PaymentLease> {
    const attempt = newAttemptId(this.#random);
    const rows = await this.#database.query(
      `update payments set attempt = $3, lease_until = ${leaseEndSql(4)}, request_hash = coalesce($5::bytea, request_hash),
         response_body = case when $5::bytea <> request_hash then null else response_body end,
         response_until = case when $5::bytea <> request_hash then null else response_until end, updated_at = clock_timestamp(),
         repetitions = repetitions + (state = 'delivered')::int4
       where payment_id = $1 and state = $2 and lease_until <= clock_timestamp() returning payment_id`,
      [paymentId, state, attempt, leaseMs, requestHash],
    );
    if (rows.length === 0) throw createPaymentInProgressError();
    return { paymentId, attempt };
  }

  /** Returns false if the lease was lost or the transaction is recorded for another payment. */
  async tryTransition({ paymentId, attempt }: PaymentLease, transition: PaymentTransition): Promise<boolean> {
    const { from, to, leaseMs, reason = null, transaction = null, response = null, isRepeatable = false } = transition;
    const responseColumns =
      response === null ? [null, null, null] : [response.status, JSON.stringify(response.headers), response.body];
    const rows = await this.#database.query(
      `update payments as held set state = $4, lease_until = ${leaseEndSql(5)}, updated_at = clock_timestamp(),
         reason = coalesce($6::text, held.reason), transaction_hash = coalesce($7::text, held.transaction_hash),
         response_status = coalesce($8::int4, held.response_status), response_headers = coalesce($9::text, held.response_headers),
         response_body = coalesce($10::bytea, held.response_body),
         response_until = case when $8::int4 is null and not $11::boolean then held.response_until
           else clock_timestamp() + interval '${RESPONSE_RETENTION_MINUTES} minutes' end,
         authorization_json = case when $4::text in ('settled', 'delivered', 'rejected', 'released') then null
           else held.authorization_json end,
         next_try_at = case when $4::text = 'unknown'
           then coalesce(held.next_try_at, clock_timestamp() + interval '${FIRST_RETRY_SECONDS} seconds') end
       where held.payment_id = $1 and held.attempt = $2 and held.state = any($3::text[])
         and not exists (select 1 from payments as other where other.network = held.network
           and other.transaction_hash = $7::text and other.payment_id <> held.payment_id)
       returning payment_id`,
      [paymentId, attempt, from, to, leaseMs, reason, transaction, ...responseColumns, isRepeatable],
    );
    if (rows.length === 0) return false;
    this.counts[to] += 1;
    return true;
  }

  /** @throws AppError `payment_in_progress` if the lease was lost */
  async transition(lease: PaymentLease, transition: PaymentTransition): Promise<void> {
    if (!(await this.tryTransition(lease, transition))) throw createPaymentInProgressError();
  }
}
