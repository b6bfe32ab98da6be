import Type, { type Static, type TSchema } from "typebox";
import { Compile } from "typebox/schema";
import { FairSemaphore, type Release } from "../../../lib/fair-semaphore.ts";
import { CONNECTIONS_PER_HOST_MAX, type HttpOut } from "../../../ports/http-out.ts";
import type { PaymentRequirements, SignedAuthorization } from "./model.ts";

const VERIFY_TIMEOUT_MS = 10_000;
const SETTLE_TIMEOUT_MS = 30_000;
const RESPONSE_BYTES_MAX = 64 * 1024;
/** All requests have one key, so they wait in the order of their arrival. */
const CONNECTION_KEY = "facilitator";
const TRANSACTION_PATTERN = /^0x[0-9a-fA-F]{64}$/;

/**
 * Error codes that prove nothing was charged. Any other error leaves the outcome unknown, including a used nonce: an
 * earlier attempt of this service may have used the nonce.
 */
const CERTAIN_REJECTIONS: ReadonlySet<string> = new Set([
  "insufficient_funds",
  "invalid_scheme",
  "unsupported_scheme",
  "invalid_network",
  "invalid_payload",
  "invalid_payment_requirements",
  "invalid_x402_version",
  "invalid_exact_evm_signature",
  "invalid_exact_evm_payload_signature",
  "invalid_exact_evm_insufficient_balance",
  "invalid_exact_evm_network_mismatch",
  "invalid_exact_evm_recipient_mismatch",
  "invalid_exact_evm_scheme",
  "invalid_exact_evm_payload_recipient_mismatch",
  "invalid_exact_evm_payload_authorization_value_mismatch",
  "invalid_exact_evm_payload_authorization_value",
  "invalid_exact_evm_payload_authorization_valid_after",
  "invalid_exact_evm_payload_authorization_valid_before",
  "invalid_exact_evm_authorization_value",
  "invalid_exact_evm_token_name_mismatch",
  "invalid_exact_evm_token_version_mismatch",
]);

/** Result of the verification before the charge; null if the facilitator returned no valid response. */
export type VerificationResult =
  | { readonly isValid: true }
  | { readonly isValid: false; readonly reason: string }
  | null;

/** Result of a charge request. unknown: possibly charged. */
export type SettleOutcome =
  | { readonly kind: "settled"; readonly transaction: string }
  | { readonly kind: "rejected"; readonly reason: string }
  | { readonly kind: "unknown"; readonly why: string };

/** External service that verifies payments and submits them to the chain. */
export interface Facilitator {
  verify(payment: SignedAuthorization, requirements: PaymentRequirements): Promise<VerificationResult>;
  /**
   * Requests the charge. Repeating the request for the same authorization is safe, because the token accepts a nonce
   * only once.
   */
  settle(payment: SignedAuthorization, requirements: PaymentRequirements, signal?: AbortSignal): Promise<SettleOutcome>;
}

const Reason = Type.String({ minLength: 1, maxLength: 200 });
const verifyResponseCheck = Compile(
  Type.Object({ isValid: Type.Boolean(), invalidReason: optionalOrNull(Reason), payer: optionalOrNull(Type.String()) }),
);
const SettleResponse = Type.Object({
  success: Type.Boolean(),
  errorReason: optionalOrNull(Reason),
  payer: optionalOrNull(Type.String()),
  transaction: optionalOrNull(Type.String({ maxLength: 200 })),
  network: optionalOrNull(Type.String()),
  amount: optionalOrNull(Type.String()),
});
type SettleResponse = Static<typeof SettleResponse>;
const settleResponseCheck = Compile(SettleResponse);

/** Client of a facilitator's HTTP API (x402 version 2). Responses are validated before use. */
export function createFacilitator(options: {
  readonly http: HttpOut;
  readonly url: string;
  /** Bearer token; null if the facilitator needs none. */
  readonly token: string | null;
  readonly verifyDeadlineMs?: number;
  readonly settleDeadlineMs?: number;
}): Facilitator {
  const { http, url, token, verifyDeadlineMs = VERIFY_TIMEOUT_MS, settleDeadlineMs = SETTLE_TIMEOUT_MS } = options;
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (token !== null) headers.authorization = `Bearer ${token}`;
  const connections = new FairSemaphore({ slots: CONNECTIONS_PER_HOST_MAX });
  /** Frees the connection after the request. The timeout does not include the wait for the connection. */
  const send = async (
    connection: Release,
    path: string,
    { signature, authorization }: SignedAuthorization,
    requirements: PaymentRequirements,
    options: { readonly deadlineMs: number; readonly signal?: AbortSignal },
  ) => {
    try {
      // Built from validated values; no other client data is forwarded.
      const paymentPayload = { x402Version: 2, accepted: requirements, payload: { signature, authorization } };
      const body = JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements: requirements });
      const bounds = { ...options, maxBodyBytes: RESPONSE_BYTES_MAX };
      const response = await http.send({ method: "POST", url: `${url}${path}`, headers, body, ...bounds });
      return { status: response.status, value: parseJsonOrNull(response.body) };
    } catch {
      return { status: null, value: null };
    } finally {
      connection();
    }
  };
  return {
    async verify(payment, requirements) {
      // Verification fails immediately if all connections are in use. Only settlements wait for a connection.
      const connection = connections.tryAcquire(CONNECTION_KEY);
      if (connection === null) return null;
      const { value } = await send(connection, "/verify", payment, requirements, { deadlineMs: verifyDeadlineMs });
      if (!verifyResponseCheck.Check(value)) return null;
      const reason = value.invalidReason ?? "invalid_payload";
      // `unexpected_` errors mean that the facilitator could not verify the payment, not that it rejected the payment.
      if (!value.isValid) return reason.startsWith("unexpected_") ? null : { isValid: false, reason };
      return isPayer(value.payer, payment) ? { isValid: true } : null;
    },
    async settle(payment, requirements, signal) {
      const connection = await connections.acquire(CONNECTION_KEY, signal).catch(() => null);
      if (connection === null) return { kind: "unknown", why: "aborted before a connection was available" };
      const limits = { deadlineMs: settleDeadlineMs, signal };
      const { value, status } = await send(connection, "/settle", payment, requirements, limits);
      if (!settleResponseCheck.Check(value)) return { kind: "unknown", why: `no valid response (status ${status})` };
      return value.success ? toSuccess(value, payment, requirements) : toFailure(value);
    },
  };
}

/** Converts a success response. If it does not match the payment, the outcome is unknown. */
function toSuccess(
  { transaction, network, amount, payer }: SettleResponse,
  payment: SignedAuthorization,
  requirements: PaymentRequirements,
): SettleOutcome {
  const unknown = (why: string) => ({ kind: "unknown", why }) as const;
  if (transaction == null || !TRANSACTION_PATTERN.test(transaction)) return unknown("success without a transaction");
  if (network != null && network !== requirements.network) return unknown("success on another network");
  if (amount != null && amount !== requirements.amount) return unknown("success with another amount");
  if (!isPayer(payer, payment)) return unknown("success with another payer");
  return { kind: "settled", transaction: transaction.toLowerCase() };
}

function toFailure({ errorReason, transaction }: SettleResponse): SettleOutcome {
  const reason = errorReason ?? "unexpected_settle_error";
  const isCertain = (transaction ?? "") === "" && CERTAIN_REJECTIONS.has(reason);
  return isCertain ? { kind: "rejected", reason } : { kind: "unknown", why: reason };
}

const isPayer = (payer: string | null | undefined, { authorization }: SignedAuthorization) =>
  payer == null || payer.toLowerCase() === authorization.from;

function optionalOrNull<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

function parseJsonOrNull(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}
