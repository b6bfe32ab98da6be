import Type, { type TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { CONNECTIONS_PER_HOST_MAX, type HttpOut } from "../../ports/http-out.ts";
import type { PaymentRequirements, SignedAuthorization } from "./model.ts";

const VERIFY_DEADLINE_MS = 10_000;
const SETTLE_DEADLINE_MS = 30_000;
const ANSWER_BYTES_MAX = 64 * 1024;
const TRANSACTION = /^0x[0-9a-fA-F]{64}$/;

/**
 * Refusals that are certain to have charged nothing, as facilitators name them. Whatever else they say of a settlement,
 * also that the nonce is used (it may be us who used it), leaves it unknown.
 */
const CERTAIN_REFUSALS: ReadonlySet<string> = new Set([
  ...["insufficient_funds", "invalid_scheme", "unsupported_scheme", "invalid_network", "invalid_payload"],
  ...["invalid_payment_requirements", "invalid_x402_version"],
  ...["invalid_exact_evm_signature", "invalid_exact_evm_payload_signature", "invalid_exact_evm_insufficient_balance"],
  ...["invalid_exact_evm_network_mismatch", "invalid_exact_evm_recipient_mismatch", "invalid_exact_evm_scheme"],
  ...["invalid_exact_evm_payload_recipient_mismatch", "invalid_exact_evm_payload_authorization_value_mismatch"],
  ...["invalid_exact_evm_payload_authorization_value", "invalid_exact_evm_payload_authorization_valid_after"],
  ...["invalid_exact_evm_payload_authorization_valid_before", "invalid_exact_evm_authorization_value"],
  ...["invalid_exact_evm_token_name_mismatch", "invalid_exact_evm_token_version_mismatch"],
]);

/** What a facilitator finds of a payment before it is charged; null where it gave no answer that can be used. */
export type Verdict = { readonly isValid: true } | { readonly isValid: false; readonly reason: string } | null;

/** What became of asking for the charge. unknown: perhaps it is charged. */
export type SettleOutcome =
  | { readonly kind: "settled"; readonly transaction: string }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "unknown"; readonly why: string };

/** Whoever checks payments against the chain and brings them there. */
export interface Facilitator {
  verify(payment: SignedAuthorization, requirements: PaymentRequirements): Promise<Verdict>;
  /** Asks for the charge; again for the same authorization is harmless, because the token takes its nonce once. */
  settle(payment: SignedAuthorization, requirements: PaymentRequirements, signal?: AbortSignal): Promise<SettleOutcome>;
}

export interface FacilitatorOptions {
  readonly http: HttpOut;
  readonly url: string;
  /** Sent as a Bearer token where the facilitator wants one. */
  readonly token: string | null;
  readonly verifyDeadlineMs?: number;
  readonly settleDeadlineMs?: number;
}

const Word = Type.String({ minLength: 1, maxLength: 200 });
const verifyAnswer = Compile(
  Type.Object({ isValid: Type.Boolean(), invalidReason: optional(Word), payer: optional(Type.String()) }),
);
const settleAnswer = Compile(
  Type.Object({
    success: Type.Boolean(),
    errorReason: optional(Word),
    payer: optional(Type.String()),
    transaction: optional(Type.String({ maxLength: 200 })),
    network: optional(Type.String()),
    amount: optional(Type.String()),
  }),
);

/** The facilitator's HTTP interface (x402 version 2). Of its answers only what is checked here is believed. */
export function createFacilitator(options: FacilitatorOptions): Facilitator {
  const { http, url, token } = options;
  const headers = {
    "content-type": "application/json",
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  };
  const gate = createGate(CONNECTIONS_PER_HOST_MAX);
  const ask = async (
    path: string,
    payment: SignedAuthorization,
    requirements: PaymentRequirements,
    deadlineMs: number,
    signal?: AbortSignal,
  ) => {
    // Its deadline begins once it has a connection.
    if (!(await gate.enter(signal))) return { status: null, value: null };
    try {
      // Built anew from what was checked: nothing else that a client sent goes on.
      const paymentPayload = {
        ...{ x402Version: 2, accepted: requirements },
        payload: { signature: payment.signature, authorization: payment.authorization },
      };
      const body = JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: requirements });
      const bounds = { deadlineMs, maxBodyBytes: ANSWER_BYTES_MAX, ...(signal === undefined ? {} : { signal }) };
      const answer = await http.send({ method: "POST", url: `${url}${path}`, headers, body, ...bounds });
      return { status: answer.status, value: parse(answer.body) };
    } catch {
      return { status: null, value: null };
    } finally {
      gate.leave();
    }
  };
  return {
    async verify(payment, requirements) {
      // A facilitator that does not keep up; queueing would only hide it. Nothing is lost by not asking, while a settlement,
      // once begun, is asked for in any case.
      if (gate.isFull) return null;
      const { value } = await ask("/verify", payment, requirements, options.verifyDeadlineMs ?? VERIFY_DEADLINE_MS);
      if (!verifyAnswer.Check(value)) return null;
      const reason = value.invalidReason ?? "invalid_payload";
      // So it says that it could not find out.
      if (!value.isValid) return reason.startsWith("unexpected_") ? null : { isValid: false, reason };
      return isPayer(value.payer, payment) ? { isValid: true } : null;
    },
    async settle(payment, requirements, signal) {
      const deadlineMs = options.settleDeadlineMs ?? SETTLE_DEADLINE_MS;
      const exchange = await ask("/settle", payment, requirements, deadlineMs, signal);
      const { value, status } = exchange;
      if (!settleAnswer.Check(value)) return { kind: "unknown", why: `no usable answer (status ${status})` };
      return value.success ? successOf(value, payment, requirements) : failureOf(value);
    },
  };
}

/** Lets in so many at once; the others wait in the order in which they came. */
function createGate(room: number) {
  let inside = 0;
  const waiting: (() => void)[] = [];
  return {
    get isFull() {
      return inside >= room;
    },
    /** False where `signal` came first. */
    async enter(signal: AbortSignal | undefined): Promise<boolean> {
      if (inside < room) {
        inside += 1;
        return true;
      }
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const enter = () => resolve(true);
      waiting.push(enter);
      signal?.addEventListener("abort", () => {
        const place = waiting.indexOf(enter);
        if (place >= 0) waiting.splice(place, 1);
        resolve(false);
      });
      return promise;
    },
    leave(): void {
      const next = waiting.shift();
      if (next === undefined) inside -= 1;
      else next();
    },
  };
}

interface SettleAnswer {
  readonly errorReason?: string | null;
  readonly payer?: string | null;
  readonly transaction?: string | null;
  readonly network?: string | null;
  readonly amount?: string | null;
}

/** A success that speaks of another payment is none. */
function successOf(
  answer: SettleAnswer,
  payment: SignedAuthorization,
  requirements: PaymentRequirements,
): SettleOutcome {
  const { transaction, network, amount } = answer;
  if (transaction == null || !TRANSACTION.test(transaction))
    return { kind: "unknown", why: "success without a transaction" };
  if (network != null && network !== requirements.network)
    return { kind: "unknown", why: "success on another network" };
  if (amount != null && amount !== requirements.amount) return { kind: "unknown", why: "success with another amount" };
  if (!isPayer(answer.payer, payment)) return { kind: "unknown", why: "success with another payer" };
  return { kind: "settled", transaction: transaction.toLowerCase() };
}

function failureOf({ errorReason, transaction }: SettleAnswer): SettleOutcome {
  const reason = errorReason ?? "unexpected_settle_error";
  const isCertain = (transaction ?? "") === "" && CERTAIN_REFUSALS.has(reason);
  return isCertain ? { kind: "refused", reason } : { kind: "unknown", why: reason };
}

const isPayer = (payer: string | null | undefined, { authorization }: SignedAuthorization) =>
  payer == null || payer.toLowerCase() === authorization.from;

function optional<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
