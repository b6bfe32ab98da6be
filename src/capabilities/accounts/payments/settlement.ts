import type { Log } from "../../../ports/log.ts";
import type { AuthorizationState, ChainReader } from "./chain.ts";
import type { Facilitator } from "./facilitator.ts";
import type { PaymentLease, PaymentLedger, PaymentTransition } from "./ledger.ts";
import {
  createSettlementUnknownError,
  type Payment,
  PaymentRejectedError,
  type PaymentRequirements,
  payerCustomerId,
  type Settlement,
  type SignedAuthorization,
  throwSettlementUnknown,
} from "./model.ts";

/** Lease duration for one settle request to the facilitator and one query of its outcome. */
export const SETTLE_LEASE_MS = 90_000;

/** A paid call in progress. This process holds the lease on its payment. */
export interface PaidRun {
  readonly lease: PaymentLease;
  readonly payment: Payment;
  readonly requirements: PaymentRequirements;
  /** Null until the payment is charged. */
  readonly settlement: Settlement | null;
  /** Whether the payment was delivered before, with a response that was too large to be stored. */
  readonly isRepeat: boolean;
}

/** The transition of a payment whose charge is certain. */
type SettledTransition = Pick<PaymentTransition, "to" | "leaseMs" | "response" | "isRepeatable">;

export interface SettlementOptions {
  readonly facilitator: Facilitator;
  /** Null if no RPC URL is configured: unknown settlements then depend on the facilitator alone. */
  readonly chain: ChainReader | null;
  readonly log: Log;
}

/** Charges payments, and determines the outcome of unknown charges. */
export function createSettlement(ledger: PaymentLedger, { facilitator, chain, log }: SettlementOptions) {
  const warn = (
    message: string,
    { paymentId }: PaymentLease,
    { authorization }: SignedAuthorization,
    fields?: object,
  ): void => log.warn({ paymentId, payer: payerCustomerId(authorization.from), ...fields }, message);

  /** The chain takes precedence over the facilitator. */
  const findOutcome = async (
    signed: SignedAuthorization,
    requirements: PaymentRequirements,
    signal: AbortSignal | undefined,
  ): Promise<AuthorizationState> => {
    const firstFinding = await chain?.find(signed.authorization, signal);
    if (firstFinding?.kind === "transferred" || firstFinding?.kind === "void") return firstFinding;
    const outcome = await facilitator.settle(signed, requirements, signal);
    if (outcome.kind === "settled") return { kind: "transferred", transaction: outcome.transaction };
    return (await chain?.find(signed.authorization, signal)) ?? { kind: "unknown" };
  };

  /**
   * Determines the outcome of an unknown settlement and ends the lease: with `settledTransition` if it was charged,
   * rejected if it never will be, otherwise still unknown.
   *
   * @param signal  aborts the requests; the outcome then stays unknown
   * @returns the transaction; null if the outcome is still unknown
   * @throws PaymentRejectedError if the payment will never be charged
   */
  const resolveUnknown = async (
    lease: PaymentLease,
    signed: SignedAuthorization,
    requirements: PaymentRequirements,
    settledTransition: SettledTransition = { to: "settled", leaseMs: 0 },
    signal?: AbortSignal,
  ): Promise<string | null> => {
    const finding = await findOutcome(signed, requirements, signal);
    if (finding.kind === "void") {
      const reason = "payment_never_settled";
      await ledger.transition(lease, { from: ["unknown"], to: "rejected", leaseMs: 0, reason });
      throw new PaymentRejectedError(reason);
    }
    if (finding.kind === "transferred") {
      const { transaction } = finding;
      if (await ledger.tryTransition(lease, { from: ["unknown"], transaction, ...settledTransition })) {
        warn("an unknown settlement is now settled", lease, signed);
        return transaction;
      }
    }
    // The outcome is also unknown if the transaction is recorded for another payment.
    await ledger.tryTransition(lease, { from: ["unknown"], to: "unknown", leaseMs: 0 });
    return null;
  };

  const charge = async (run: PaidRun, settledTransition: SettledTransition): Promise<Settlement> => {
    const { lease, payment, requirements } = run;
    const payer = payment.authorization.from;
    await ledger.transition(lease, { from: ["verified"], to: "settling", leaseMs: SETTLE_LEASE_MS });
    const outcome = await facilitator.settle(payment, requirements);
    if (outcome.kind === "settled") {
      const { transaction } = outcome;
      if (await ledger.tryTransition(lease, { from: ["settling"], transaction, ...settledTransition }))
        return { transaction, payer };
      // The lease was lost, or the transaction is recorded for another payment: the outcome is uncertain.
      warn("a settlement could not be recorded", lease, payment);
    } else if (outcome.kind === "unknown") {
      warn("the outcome of a settlement is unknown", lease, payment, { why: outcome.why });
    } else if ((await chain?.find(payment.authorization))?.kind !== "transferred") {
      const { reason } = outcome;
      await ledger.transition(lease, { from: ["settling"], to: "rejected", leaseMs: 0, reason });
      throw new PaymentRejectedError(reason);
    }
    const { response } = settledTransition;
    await ledger.transition(lease, { from: ["settling"], to: "unknown", leaseMs: SETTLE_LEASE_MS, response });
    const transaction = await resolveUnknown(lease, payment, requirements, settledTransition);
    if (transaction === null) throw createSettlementUnknownError();
    return { transaction, payer };
  };

  return {
    /**
     * Charges a verified payment and makes the transition `settledTransition`.
     *
     * @throws PaymentRejectedError if it is certain that nothing was charged; AppError `settlement_unknown` after any
     *   failure that may have charged, also if the store fails after the facilitator has charged
     */
    settle: (run: PaidRun, settledTransition: SettledTransition): Promise<Settlement> =>
      charge(run, settledTransition).catch(throwSettlementUnknown),
    resolveUnknown,
  };
}
