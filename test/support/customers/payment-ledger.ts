import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { systemRandom } from "../../../src/adapters/system/system-random.ts";
import type { AuthorizationState } from "../../../src/capabilities/accounts/payments/chain.ts";
import type {
  Facilitator,
  SettleOutcome,
  VerificationResult,
} from "../../../src/capabilities/accounts/payments/facilitator.ts";
import {
  type Payment,
  type PaymentAsset,
  PaymentRejectedError,
  type RoutePrice,
  type StoredResponse,
} from "../../../src/capabilities/accounts/payments/model.ts";
import { createPaymentReconciler } from "../../../src/capabilities/accounts/payments/reconciler.ts";
import { createRouteRequirements } from "../../../src/capabilities/accounts/payments/requirements.ts";
import { createPaymentService, type PaymentService } from "../../../src/capabilities/accounts/payments/service.ts";
import type { Database } from "../../../src/ports/database.ts";
import type { Log } from "../../../src/ports/log.ts";
import { Cluster } from "../cluster.ts";
import { quietLog } from "../quiet-log.ts";

export const ASSET: PaymentAsset = {
  network: "eip155:84532",
  chainId: 84_532,
  name: "USDC",
  version: "2",
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  payTo: `0x${"2".repeat(40)}`,
};
export const AFTER: RoutePrice = { tier: "LISTING", settles: "after" };
export const BEFORE: RoutePrice = { tier: "LISTING", settles: "before" };
export const REQUEST = { method: "GET", url: "/v1/markets", body: undefined };
export const RESPONSE: StoredResponse = {
  status: 200,
  headers: { "content-type": "text/plain" },
  body: Buffer.from("content"),
};
export const IN_PROGRESS = { code: "payment_in_progress" };
export const UNKNOWN = { code: "settlement_unknown" };

export const transactionOf = (nonce: string) => `0x${createHash("sha256").update(nonce).digest("hex")}`;
export const isRejection = (reason: string) => (error: unknown) =>
  error instanceof PaymentRejectedError && error.reason === reason;

/** A scripted facilitator and chain. Charges each nonce at most once. */
export class ScriptedFacilitator implements Facilitator {
  verdict: VerificationResult = { isValid: true };
  /** Overrides the reported outcome of a settlement. */
  reported: SettleOutcome | null = null;
  /** Whether a settle request charges. */
  charges = true;
  /** Whether settle requests receive no response until they are aborted. */
  isUnresponsive = false;
  /** Overrides the state reported by the chain. */
  finding: AuthorizationState | null = null;
  readonly charged = new Set<string>();
  settleRequests = 0;
  verifyRequests = 0;

  async verify(): Promise<VerificationResult> {
    this.verifyRequests += 1;
    return this.verdict;
  }

  async settle(
    { authorization: { nonce } }: Payment,
    _requirements?: unknown,
    signal?: AbortSignal,
  ): Promise<SettleOutcome> {
    this.settleRequests += 1;
    if (this.isUnresponsive && signal !== undefined) {
      await once(signal, "abort");
      return { kind: "unknown", why: "aborted" };
    }
    if (this.charges) this.charged.add(nonce);
    return this.reported ?? { kind: "settled", transaction: transactionOf(nonce) };
  }

  async find({ nonce }: Payment["authorization"]): Promise<AuthorizationState> {
    if (this.finding !== null) return this.finding;
    return this.charged.has(nonce) ? { kind: "transferred", transaction: transactionOf(nonce) } : { kind: "open" };
  }
}

export function openLedger(database: Database, options: { readonly hasChain?: boolean } = {}) {
  const cluster = new Cluster(database);
  const facilitator = new ScriptedFacilitator();
  const addNode = (log: Log = quietLog) => {
    const node = cluster.addNode();
    const common = { database: node.database, clock: node.clock, random: systemRandom, asset: ASSET };
    const service = createPaymentService({
      ...common,
      log: quietLog,
      facilitator,
      chain: options.hasChain === true ? facilitator : null,
      isSignedByPayer: () => true,
    });
    return { node, service, reconciler: createPaymentReconciler({ ...common, log, service }) };
  };
  let paymentCount = 0;
  const newPayment = (): Payment => {
    paymentCount += 1;
    const now = Math.floor(cluster.clock.now() / 1_000);
    return {
      version: 2,
      scheme: "exact",
      network: ASSET.network,
      accepted: createRouteRequirements(ASSET, AFTER),
      signature: `0x${"1".repeat(130)}`,
      authorization: {
        from: `0x${"a".repeat(40)}`,
        to: ASSET.payTo,
        value: "10000",
        validAfter: "0",
        validBefore: String(now + 300),
        nonce: `0x${String(paymentCount).padStart(64, "0")}`,
      },
    };
  };
  const states = async () => {
    const rows = await database.query<{ state: string }>("select state from payments order by payment_id");
    return rows.map(({ state }) => state);
  };
  return { cluster, facilitator, addNode, newPayment, states };
}

/** Begins a payment and asserts that the result is a run. */
export async function beginRun(service: PaymentService, payment: Payment, price = AFTER, request = REQUEST) {
  const result = await service.begin(payment, price, request);
  assert.ok(result.kind === "run");
  return result.run;
}

/** Creates payments with an unknown settlement. */
export async function leaveUnknown(
  { newPayment, facilitator }: ReturnType<typeof openLedger>,
  service: PaymentService,
  count: number,
): Promise<Payment[]> {
  facilitator.reported = { kind: "unknown", why: "timeout" };
  const payments = Array.from({ length: count }, newPayment);
  for (const payment of payments)
    await assert.rejects(service.deliver(await beginRun(service, payment), null), UNKNOWN);
  return payments;
}
