import { createHash } from "node:crypto";
import { AppError } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import type { ChainFinding, ChainReader } from "./chain.ts";
import { findMismatch, findUntimely, type SignatureCheck } from "./check-payment.ts";
import type { Facilitator } from "./facilitator.ts";
import {
  type Hex,
  PAYMENT_STATES,
  type Payment,
  type PaymentAsset,
  type PaymentRequirements,
  type PaymentState,
  type RoutePrice,
  type Settlement,
  type Settles,
  type SignedAuthorization,
  type StoredResponse,
} from "./model.ts";
import {
  type FoundPayment,
  findPayment,
  type NewPayment,
  type PaymentKey,
  type PaymentLease,
  type PaymentTransition,
  reservePayment,
  takeOver,
  transitionPayment,
} from "./queries.ts";
import { requirementsFor } from "./requirements.ts";

/** Work that is settled for afterwards, with both exchanges around it; longer, and the payment is let go unused. */
const RUN_LEASE_MS: Readonly<Record<Settles, number>> = { after: 90_000, before: 360_000 };
/** Settling takes one exchange and one look afterwards. */
const SETTLE_LEASE_MS = 90_000;
const ATTEMPT_BYTES = 12;
/** Larger answers are not kept: their call is run again where its answer was lost. */
const KEPT_BYTES_MAX = 256 * 1024;
const RETRY_AFTER_SECONDS = 5;

/** The payment is worth nothing here; `reason` in the protocol's words. Becomes a 402 with what is asked for. */
export class PaymentRefusedError extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(`The payment was refused: ${reason}`);
    this.name = "PaymentRefusedError";
    this.reason = reason;
  }
}

/** The request that a payment is for, to tell whether a lost answer is its answer. */
export interface PaidRequest {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
}

/** A call whose payment is ours to settle, or is settled. */
export interface PaidRun {
  readonly claim: PaymentLease;
  readonly payment: Payment;
  readonly requirements: PaymentRequirements;
  /** Null while it is not charged. */
  readonly settlement: Settlement | null;
}

type Begun =
  | { readonly kind: "run"; readonly run: PaidRun }
  /** The same payment for the same request once more: what it was answered. */
  | { readonly kind: "replay"; readonly answer: StoredResponse; readonly settlement: Settlement };

export interface PaymentService {
  readonly asset: PaymentAsset;
  /** How often this process has moved a payment into each state. */
  readonly counts: Readonly<Record<PaymentState, number>>;
  requirementsFor(price: RoutePrice): PaymentRequirements;
  /**
   * Whether the payment is signed by its payer and meets the requirements; asks nobody.
   *
   * @throws PaymentRefusedError
   */
  check(payment: Payment, requirements: PaymentRequirements): Promise<void>;
  /**
   * Makes a checked payment ours and has it verified; where the route settles first, charges it. Of any number of equal
   * payments one begins.
   *
   * @throws PaymentRefusedError, AppError `payment_in_progress`, `payment_unavailable`, `settlement_unknown`
   */
  begin(payment: Payment, price: RoutePrice, request: PaidRequest): Promise<Begun>;
  /**
   * Charges for a good answer, unless that is done, and notes it as delivered: when this has resolved, and not before, may
   * the answer go out.
   *
   * @param answer  null where it cannot be kept, as a stream
   * @throws as `begin`
   */
  deliver(run: PaidRun, answer: StoredResponse | null): Promise<Settlement>;
  /** There is no good answer: an uncharged payment is usable again, a charged one stays owed its answer. */
  giveUp(run: PaidRun): Promise<void>;
  /**
   * Finds out what became of a settlement that is unknown, and ends the claim on it.
   *
   * @param signal  ends the asking: it then stays unknown
   * @returns its transaction, or null where it is still unknown
   * @throws PaymentRefusedError where it is certain that it never will be settled
   */
  resolve(
    claim: PaymentLease,
    signed: SignedAuthorization,
    requirements: PaymentRequirements,
    signal?: AbortSignal,
  ): Promise<string | null>;
}

/** Where a charge that is certain moves its row. */
type Step = Pick<PaymentTransition, "to" | "leaseMs" | "answer">;

export interface PaymentServiceOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly asset: PaymentAsset;
  readonly facilitator: Facilitator;
  /** Null where no address of the chain is configured: unknown settlements then wait for the facilitator alone. */
  readonly chain: ChainReader | null;
  readonly isSignedByPayer: SignatureCheck;
}

/** How payers appear in logs and as owners: their address is personal data. */
export const payerName = (payer: Hex) => `pay-${sha256(payer).toString("hex").slice(0, 32)}`;

export function createPaymentService(options: PaymentServiceOptions): PaymentService {
  const { database, clock, random, log, asset, facilitator, chain, isSignedByPayer } = options;
  const newAttempt = () => Buffer.from(random.bytes(ATTEMPT_BYTES)).toString("base64url");
  const tell = (
    message: string,
    { paymentId }: PaymentLease,
    { authorization }: SignedAuthorization,
    more: object = {},
  ) => log.warn({ paymentId, payer: payerName(authorization.from), ...more }, message);

  const counts = Object.fromEntries(PAYMENT_STATES.map((state) => [state, 0])) as Record<PaymentState, number>;

  const moved = async (claim: PaymentLease, step: PaymentTransition): Promise<boolean> => {
    const isOurs = await transitionPayment(database, claim, step);
    if (isOurs) counts[step.to] += 1;
    return isOurs;
  };

  /** Moves a row that is ours, or says that it no longer is. */
  const move = async (claim: PaymentLease, step: PaymentTransition): Promise<void> => {
    if (!(await moved(claim, step))) throw inProgress();
  };

  const begin: PaymentService["begin"] = async (payment, price, request) => {
    const row = rowOf(asset, payment, request);
    const requirements = requirementsFor(asset, price);
    const untimely = findUntimely(payment, price.settles, clock.now());
    const claim =
      untimely === null ? await reservePayment(database, row, newAttempt(), RUN_LEASE_MS[price.settles]) : null;
    if (claim !== null) {
      counts.reserved += 1;
      return { kind: "run", run: await verified({ claim, payment, requirements, settlement: null }, price) };
    }
    const found = await findPayment(database, row, row);
    const isBegun = found !== null && (found.isLeased || !isUncharged(found.state));
    if (untimely !== null && !isBegun) throw new PaymentRefusedError(untimely);
    if (found === null) throw inProgress();
    return takeUp(found, { payment, requirements, price, requestHash: row.requestHash }).catch(throwInDoubt);
  };

  const verified = async (run: PaidRun, { settles }: RoutePrice): Promise<PaidRun> => {
    const { claim, payment, requirements } = run;
    const verdict = await facilitator.verify(payment, requirements);
    if (verdict === null) {
      await move(claim, { from: ["reserved"], to: "released", leaseMs: 0 });
      tell("the facilitator gave no usable answer", claim, payment);
      throw new AppError("payment_unavailable", "The payment cannot be checked at the moment; send it again");
    }
    if (!verdict.isValid) {
      await move(claim, { from: ["reserved"], to: "rejected", leaseMs: 0, reason: verdict.reason });
      throw new PaymentRefusedError(verdict.reason);
    }
    await move(claim, { from: ["reserved"], to: "verified", leaseMs: RUN_LEASE_MS[settles] });
    if (settles === "after") return run;
    const settlement = await settle(run, { to: "settled", leaseMs: RUN_LEASE_MS.before, answer: null });
    return { ...run, settlement };
  };

  /** What a payment gets that somebody has had before. */
  const takeUp = async (
    found: FoundPayment,
    call: { payment: Payment; requirements: PaymentRequirements; price: RoutePrice; requestHash: Uint8Array },
  ): Promise<Begun> => {
    const { payment, requirements, price } = call;
    const { paymentId, state, isLeased } = found;
    if (!found.isSameAuthorization) throw new PaymentRefusedError("payment_already_used");
    if (state === "rejected") throw new PaymentRefusedError(found.reason ?? "payment_rejected");
    if (state === "delivered") return replay(found, payment);
    if (isLeased || (state !== "settled" && state !== "unknown")) throw inProgress();
    let { transaction } = found;
    if (state === "unknown") {
      const claim = await takeOver(database, paymentId, "unknown", newAttempt(), SETTLE_LEASE_MS);
      if (claim === null) throw inProgress();
      transaction = await conclude(claim, payment, requirements, { to: "settled", leaseMs: 0 });
    }
    if (transaction === null) throw unsettled();
    // The charge is certain; what is owed is one answer, also to another request of the same price.
    const lease = { attempt: newAttempt(), leaseMs: RUN_LEASE_MS[price.settles] };
    const claim = await takeOver(database, paymentId, "settled", lease.attempt, lease.leaseMs, call.requestHash);
    if (claim === null) throw inProgress();
    const settlement = { transaction, payer: payment.authorization.from };
    if (found.answer === null || !found.isSameRequest) {
      return { kind: "run", run: { claim, payment, requirements, settlement } };
    }
    await move(claim, { from: ["settled"], to: "delivered", leaseMs: 0 });
    return { kind: "replay", answer: found.answer, settlement };
  };

  /**
   * Charges; the row then is in `step`'s state. Whatever fails from the first move on, it may be charged: then nothing else
   * than `settlement_unknown` is told, also where the store fails after the facilitator has not.
   */
  const settle = (run: PaidRun, step: Step): Promise<Settlement> => charge(run, step).catch(throwInDoubt);

  const charge = async (run: PaidRun, step: Step): Promise<Settlement> => {
    const { claim, payment, requirements } = run;
    await move(claim, { from: ["verified"], to: "settling", leaseMs: SETTLE_LEASE_MS });
    const outcome = await facilitator.settle(payment, requirements);
    if (outcome.kind === "settled") {
      const { transaction } = outcome;
      const isOurs = await moved(claim, { from: ["settling"], transaction, ...step });
      if (isOurs) return { transaction, payer: payment.authorization.from };
      // The row is not ours any more, or the transaction named has paid for another call: nothing is certain.
      tell("a settlement cannot be booked", claim, payment);
    } else if (outcome.kind === "refused" && (await chain?.find(payment.authorization))?.kind !== "transferred") {
      await move(claim, { from: ["settling"], to: "rejected", leaseMs: 0, reason: outcome.reason });
      throw new PaymentRefusedError(outcome.reason);
    } else if (outcome.kind === "unknown") {
      tell("it is not known whether a payment is settled", claim, payment, { why: outcome.why });
    }
    await move(claim, { from: ["settling"], to: "unknown", leaseMs: SETTLE_LEASE_MS, answer: step.answer ?? null });
    const transaction = await conclude(claim, payment, requirements, step);
    if (transaction === null) throw unsettled();
    return { transaction, payer: payment.authorization.from };
  };

  /** What became of a settlement that is in doubt; the chain's word counts before the facilitator's. */
  const findOut = async (
    signed: SignedAuthorization,
    requirements: PaymentRequirements,
    signal: AbortSignal | undefined,
  ): Promise<ChainFinding> => {
    const before = await chain?.find(signed.authorization, signal);
    if (before?.kind === "transferred" || before?.kind === "void") return before;
    const outcome = await facilitator.settle(signed, requirements, signal);
    if (outcome.kind === "settled") return { kind: "transferred", transaction: outcome.transaction };
    return (await chain?.find(signed.authorization, signal)) ?? { kind: "unknown" };
  };

  /** Ends the claim on a row that is unknown: as `step` says where it is charged, else let go or rejected. */
  const conclude = async (
    claim: PaymentLease,
    signed: SignedAuthorization,
    requirements: PaymentRequirements,
    step: Step,
    signal?: AbortSignal,
  ): Promise<string | null> => {
    const finding = await findOut(signed, requirements, signal);
    if (finding.kind === "void") {
      const reason = "payment_never_settled";
      await move(claim, { from: ["unknown"], to: "rejected", leaseMs: 0, reason });
      throw new PaymentRefusedError(reason);
    }
    if (finding.kind === "transferred") {
      const { transaction } = finding;
      if (await moved(claim, { from: ["unknown"], transaction, ...step })) {
        tell("a settlement that was unknown is settled", claim, signed);
        return transaction;
      }
    }
    // Also where the transaction has paid for another call: the row is let go as it is.
    await moved(claim, { from: ["unknown"], to: "unknown", leaseMs: 0 });
    return null;
  };

  return {
    asset,
    counts,
    requirementsFor: (price) => requirementsFor(asset, price),
    async check(payment, requirements) {
      const mismatch = findMismatch(payment, requirements);
      if (mismatch !== null) throw new PaymentRefusedError(mismatch);
      if (!(await isSignedByPayer(payment))) throw new PaymentRefusedError("invalid_exact_evm_payload_signature");
    },
    begin,
    async deliver(run, answer) {
      const kept = answer !== null && answer.body.length <= KEPT_BYTES_MAX ? answer : null;
      const step = { to: "delivered", leaseMs: 0, answer: kept } as const;
      if (run.settlement === null) return settle(run, step);
      await move(run.claim, { from: ["settled"], ...step });
      return run.settlement;
    },
    async giveUp(run) {
      if (run.settlement === null)
        await moved(run.claim, { from: ["reserved", "verified"], to: "released", leaseMs: 0 });
      else await moved(run.claim, { from: ["settled"], to: "settled", leaseMs: 0 });
    },
    resolve: (claim, signed, requirements, signal) =>
      conclude(claim, signed, requirements, { to: "settled", leaseMs: 0 }, signal),
  };
}

function replay(found: FoundPayment, { authorization }: Payment): Begun {
  const { answer, transaction } = found;
  if (answer === null || transaction === null || !found.isSameRequest)
    throw new PaymentRefusedError("payment_already_used");
  return { kind: "replay", answer, settlement: { transaction, payer: authorization.from } };
}

const isUncharged = (state: PaymentState) => state === "reserved" || state === "verified" || state === "released";

function rowOf(asset: PaymentAsset, payment: Payment, request: PaidRequest): NewPayment {
  const { signature, authorization } = payment;
  const key: PaymentKey = {
    ...{ network: asset.network, asset: asset.asset.toLowerCase() },
    ...{ payer: authorization.from, nonce: authorization.nonce },
  };
  return {
    ...key,
    amount: authorization.value,
    validBefore: Number(authorization.validBefore),
    authorizationHash: sha256(JSON.stringify({ signature, authorization })),
    requestHash: sha256(JSON.stringify([request.method, request.url, request.body ?? null])),
    signed: { signature, authorization },
  };
}

const sha256 = (text: string) => createHash("sha256").update(text).digest();

const inProgress = () =>
  new AppError("payment_in_progress", "This payment is being worked on; send it again for its answer", {
    details: { retryAfterSeconds: 1 },
  });

/** Of a payment that may be charged no failure of ours says otherwise. */
function throwInDoubt(error: unknown): never {
  const isSaid = error instanceof AppError && error.code !== "store_unavailable";
  throw isSaid || error instanceof PaymentRefusedError ? error : unsettled(error);
}

const unsettled = (cause?: unknown) =>
  new AppError("settlement_unknown", "It is not yet known whether the payment went through; send the same one again", {
    cause,
    details: { retryAfterSeconds: RETRY_AFTER_SECONDS },
  });
