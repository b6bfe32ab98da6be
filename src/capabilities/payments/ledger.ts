import type { Database } from "../../ports/database.ts";
import type { Random } from "../../ports/random.ts";
import { PAYMENT_STATES, type PaymentState } from "./model.ts";
import { paymentInProgress } from "./payment-errors.ts";
import {
  type FoundPayment,
  findPayment,
  type NewPayment,
  type PaymentLease,
  type PaymentTransition,
  reservePayment,
  takeOver,
  transitionPayment,
} from "./queries.ts";

const ATTEMPT_ID_BYTES = 12;

/** The table of payments. Counts the transitions made by this process. */
export class PaymentLedger {
  readonly counts: Readonly<Record<PaymentState, number>>;
  readonly #counts: Record<PaymentState, number>;
  readonly #database: Database;
  readonly #random: Random;

  constructor(database: Database, random: Random) {
    this.#database = database;
    this.#random = random;
    this.#counts = Object.fromEntries(PAYMENT_STATES.map((state) => [state, 0])) as Record<PaymentState, number>;
    this.counts = this.#counts;
  }

  /** Null if the payment is in use or was already used. */
  async reserve(payment: NewPayment, leaseMs: number): Promise<PaymentLease | null> {
    const lease = await reservePayment(this.#database, payment, this.#newAttemptId(), leaseMs);
    if (lease !== null) this.#counts.reserved += 1;
    return lease;
  }

  find(payment: NewPayment): Promise<FoundPayment | null> {
    return findPayment(this.#database, payment, payment);
  }

  /**
   * Leases a payment that no process is working on.
   *
   * @throws AppError `payment_in_progress` if another process leased it first
   */
  async takeOver(
    paymentId: number,
    state: "settled" | "unknown",
    leaseMs: number,
    requestHash: Uint8Array | null = null,
  ): Promise<PaymentLease> {
    const lease = await takeOver(this.#database, paymentId, state, this.#newAttemptId(), leaseMs, requestHash);
    if (lease === null) throw paymentInProgress();
    return lease;
  }

  /** Returns false if the lease was lost, or if the transaction already paid for another call. */
  async tryTransition(lease: PaymentLease, transition: PaymentTransition): Promise<boolean> {
    const isDone = await transitionPayment(this.#database, lease, transition);
    if (isDone) this.#counts[transition.to] += 1;
    return isDone;
  }

  /** @throws AppError `payment_in_progress` if the lease was lost */
  async transition(lease: PaymentLease, transition: PaymentTransition): Promise<void> {
    if (!(await this.tryTransition(lease, transition))) throw paymentInProgress();
  }

  #newAttemptId(): string {
    return Buffer.from(this.#random.bytes(ATTEMPT_ID_BYTES)).toString("base64url");
  }
}
