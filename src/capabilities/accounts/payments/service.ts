import { createHash } from "node:crypto";
import { AppError } from "../../../domain/errors.ts";
import type { AreaPorts } from "../../area-ports.ts";
import { type FoundPayment, type NewPayment, PaymentLedger } from "./ledger.ts";
import {
  createPaymentInProgressError,
  createSettlementUnknownError,
  type Payment,
  type PaymentAsset,
  PaymentRejectedError,
  type PaymentRequirements,
  type PaymentState,
  payerCustomerId,
  type RoutePrice,
  type Settlement,
  type SettlementTiming,
  type StoredResponse,
  throwSettlementUnknown,
} from "./model.ts";
import { createRouteRequirements } from "./requirements.ts";
import { createSettlement, type PaidRun, SETTLE_LEASE_MS, type SettlementOptions } from "./settlement.ts";
import { type SignatureCheck, validateAuthorizationTime, validatePayment } from "./validate-payment.ts";

/**
 * Duration of the lease: the maximum time of a handler, plus both facilitator requests if the route settles after the
 * handler.
 */
const RUN_LEASE_MS: Readonly<Record<SettlementTiming, number>> = { after: 90_000, before: 360_000 };
/**
 * Maximum size of stored responses. If the response is larger, the call runs again when its client resends the payment.
 */
const STORED_BYTES_MAX = 256 * 1024;

/** Identifies the request that a stored response belongs to. */
export interface PaidRequest {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
}

type BeginResult =
  | { readonly kind: "run"; readonly run: PaidRun }
  /** The same payment was sent repeatedly for the same request. */
  | { readonly kind: "replay"; readonly response: StoredResponse; readonly settlement: Settlement };

export interface PaymentServiceOptions extends SettlementOptions, Pick<AreaPorts, "database" | "clock" | "random"> {
  readonly asset: PaymentAsset;
  readonly isSignedByPayer: SignatureCheck;
}

interface PaidCall {
  readonly payment: Payment;
  readonly requirements: PaymentRequirements;
  readonly price: RoutePrice;
  readonly requestHash: Uint8Array;
}

export type PaymentService = ReturnType<typeof createPaymentService>;

export function createPaymentService(options: PaymentServiceOptions) {
  const { database, clock, random, log, asset, facilitator, isSignedByPayer } = options;
  const ledger = new PaymentLedger(database, random);
  const { settle, resolveUnknown } = createSettlement(ledger, options);

  const verify = async (run: PaidRun, { settles }: RoutePrice): Promise<PaidRun> => {
    const { lease, payment, requirements } = run;
    const verdict = await facilitator.verify(payment, requirements);
    if (verdict === null) {
      await ledger.transition(lease, { from: ["reserved"], to: "released", leaseMs: 0 });
      const fields = { paymentId: lease.paymentId, payer: payerCustomerId(payment.authorization.from) };
      log.warn(fields, "the facilitator returned no valid response");
      throw new AppError("payment_unavailable", "The payment cannot be verified at the moment. Send it again.");
    }
    if (!verdict.isValid) {
      const { reason } = verdict;
      await ledger.transition(lease, { from: ["reserved"], to: "rejected", leaseMs: 0, reason });
      throw new PaymentRejectedError(reason);
    }
    await ledger.transition(lease, { from: ["reserved"], to: "verified", leaseMs: RUN_LEASE_MS[settles] });
    if (settles === "after") return run;
    return { ...run, settlement: await settle(run, { to: "settled", leaseMs: RUN_LEASE_MS.before }) };
  };

  /** Handles a repeated payment: replays its response, redeems its credit, or rejects the payment. */
  const reuse = async (
    foundPayment: FoundPayment,
    { payment, requirements, price, requestHash }: PaidCall,
  ): Promise<BeginResult> => {
    const { paymentId, state, isLeased } = foundPayment;
    if (!foundPayment.isSameAuthorization) throw new PaymentRejectedError("payment_already_used");
    if (state === "rejected") throw new PaymentRejectedError(foundPayment.reason ?? "payment_rejected");
    if (state === "delivered" && !foundPayment.isRepeatable) return createReplay(foundPayment, payment);
    const isRepeat = state === "delivered";
    if (isRepeat && !foundPayment.isSameRequest) throw new PaymentRejectedError("payment_already_used");
    if (isLeased || (state !== "settled" && state !== "unknown" && !isRepeat)) throw createPaymentInProgressError();
    let { transaction } = foundPayment;
    if (state === "unknown") {
      const lease = await ledger.takeOver(paymentId, "unknown", SETTLE_LEASE_MS);
      transaction = await resolveUnknown(lease, payment, requirements);
    }
    if (transaction === null) throw createSettlementUnknownError();
    // A charged payment pays for one response, even if the request differs but has the same price.
    const from = isRepeat ? "delivered" : "settled";
    const lease = await ledger.takeOver(paymentId, from, RUN_LEASE_MS[price.settles], requestHash);
    const settlement = { transaction, payer: payment.authorization.from };
    if (foundPayment.response === null || !foundPayment.isSameRequest)
      return { kind: "run", run: { lease, payment, requirements, settlement, isRepeat } };
    await ledger.transition(lease, { from: ["settled"], to: "delivered", leaseMs: 0 });
    return { kind: "replay", response: foundPayment.response, settlement };
  };

  return {
    asset,
    /** Number of transitions into each state made by this process. */
    counts: ledger.counts as Readonly<Record<PaymentState, number>>,
    createRouteRequirements: (price: RoutePrice): PaymentRequirements => createRouteRequirements(asset, price),
    /**
     * Checks that the payment meets the requirements and is signed by its payer. Makes no network request.
     *
     * @throws PaymentRejectedError
     */
    async check(payment: Payment, requirements: PaymentRequirements): Promise<void> {
      const reason = validatePayment(payment, requirements);
      if (reason !== null) throw new PaymentRejectedError(reason);
      if (!isSignedByPayer(payment)) throw new PaymentRejectedError("invalid_exact_evm_payload_signature");
    },
    /**
     * Reserves a checked payment and verifies it with the facilitator. Charges it if the route settles before the
     * handler. Of any number of concurrent identical payments, exactly one receives a run.
     *
     * @throws PaymentRejectedError, AppError `payment_in_progress`, `payment_unavailable`, `settlement_unknown`
     */
    async begin(payment: Payment, price: RoutePrice, request: PaidRequest): Promise<BeginResult> {
      const row = newPaymentOf(asset, payment, request);
      const requirements = createRouteRequirements(asset, price);
      const validityError = validateAuthorizationTime(payment, price.settles, clock.now());
      const lease = validityError === null ? await ledger.reserve(row, RUN_LEASE_MS[price.settles]) : null;
      if (lease !== null) {
        const run = { lease, payment, requirements, settlement: null, isRepeat: false };
        return { kind: "run", run: await verify(run, price) };
      }
      const foundPayment = await ledger.find(row);
      const hasStarted = foundPayment !== null && (foundPayment.isLeased || !isUncharged(foundPayment.state));
      if (validityError !== null && !hasStarted) throw new PaymentRejectedError(validityError);
      if (foundPayment === null) throw createPaymentInProgressError();
      const { requestHash } = row;
      return reuse(foundPayment, { payment, requirements, price, requestHash }).catch(throwSettlementUnknown);
    },
    /**
     * Charges for a successful response unless already charged, and marks the payment as delivered. The response must not
     * be sent before this resolves.
     *
     * @param response  null if it cannot be stored
     * @param isRepeatable  whether the same request may run again for an hour if its response is not stored
     * @throws as `begin`
     */
    async deliver(
      run: PaidRun,
      response: StoredResponse | null,
      isRepeatable = response !== null,
    ): Promise<Settlement> {
      const storedResponse = response !== null && response.body.length <= STORED_BYTES_MAX ? response : null;
      const deliveredTransition = {
        to: "delivered",
        leaseMs: 0,
        response: storedResponse,
        // A repeated run does not start another hour.
        isRepeatable: isRepeatable && storedResponse === null && !run.isRepeat,
      } as const;
      if (run.settlement === null) return settle(run, deliveredTransition);
      await ledger.transition(run.lease, { from: [chargedStateOf(run)], ...deliveredTransition });
      return run.settlement;
    },
    /** Ends a run without a successful response: an uncharged payment can be used again; a charged payment is a credit. */
    async release(run: PaidRun): Promise<void> {
      const { lease, settlement } = run;
      const state = chargedStateOf(run);
      if (settlement === null)
        await ledger.tryTransition(lease, { from: ["reserved", "verified"], to: "released", leaseMs: 0 });
      else await ledger.tryTransition(lease, { from: [state], to: state, leaseMs: 0 });
    },
    resolveUnknown,
  };
}

function createReplay({ response, transaction, isSameRequest }: FoundPayment, { authorization }: Payment): BeginResult {
  if (response === null || transaction === null || !isSameRequest)
    throw new PaymentRejectedError("payment_already_used");
  return { kind: "replay", response, settlement: { transaction, payer: authorization.from } };
}

const chargedStateOf = ({ isRepeat }: PaidRun) => (isRepeat ? "delivered" : "settled");

const isUncharged = (state: PaymentState) => state === "reserved" || state === "verified" || state === "released";

function newPaymentOf(asset: PaymentAsset, payment: Payment, request: PaidRequest): NewPayment {
  const { signature, authorization } = payment;
  return {
    network: asset.network,
    asset: asset.asset.toLowerCase(),
    payer: authorization.from,
    nonce: authorization.nonce,
    amount: authorization.value,
    validBefore: Number(authorization.validBefore),
    authorizationHash: sha256(JSON.stringify({ signature, authorization })),
    requestHash: sha256(JSON.stringify([request.method, request.url, request.body ?? null])),
    signed: { signature, authorization },
  };
}

const sha256 = (text: string) => createHash("sha256").update(text).digest();
