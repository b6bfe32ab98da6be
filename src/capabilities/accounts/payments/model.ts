import { createHash } from "node:crypto";
import { AppError } from "../../../domain/errors.ts";
import type { Tier } from "../../../domain/plan.ts";

/**
 * The states of a payment:
 * reserved: a process handles the call. verified: the facilitator has verified it. settling: the charge was requested.
 * settled: charged, response not delivered yet. delivered: charged, response delivered.
 * rejected: will never be charged. released: not charged, and the payment can be used again.
 * unknown: possibly charged; no response is delivered until the outcome is known.
 */
export type PaymentState = (typeof PAYMENT_STATES)[number];

export const PAYMENT_STATES = [
  "reserved",
  "verified",
  "settling",
  "settled",
  "delivered",
  "rejected",
  "released",
  "unknown",
] as const;

/** `0x` and hexadecimal digits, in lower case. */
export type Hex = `0x${string}`;

/** The accepted token, the payee, and the EIP-712 domain of the payer's signature. */
export interface PaymentAsset {
  /** CAIP-2, for example `eip155:8453`. */
  readonly network: `eip155:${number}`;
  readonly chainId: number;
  /** Address of the token contract, in the letter case that payers receive. */
  readonly asset: Hex;
  /** Name and version in the token's EIP-712 domain; they differ between networks. */
  readonly name: string;
  readonly version: string;
  readonly payTo: Hex;
}

/** Settings of per-call payments (x402). */
export interface PaymentSettings {
  readonly asset: PaymentAsset;
  /** Without a trailing slash. */
  readonly facilitatorUrl: string;
  readonly facilitatorToken: string | null;
  /** JSON-RPC URL of the chain; null relies on the facilitator alone when a settlement is uncertain. */
  readonly rpcUrl: string | null;
}

/** An EIP-3009 transfer. Addresses and nonce are in lower case; numbers are decimal digits. */
export interface Authorization {
  readonly from: Hex;
  readonly to: Hex;
  /** Atomic units. */
  readonly value: string;
  /** Unix seconds. */
  readonly validAfter: string;
  readonly validBefore: string;
  readonly nonce: Hex;
}

/** An authorization signed by the payer. It permits exactly one transfer of the amount to the payee. */
export interface SignedAuthorization {
  readonly signature: Hex;
  readonly authorization: Authorization;
}

/** A payment as sent by the client. Only its format is validated. */
export interface Payment extends SignedAuthorization {
  readonly version: 1 | 2;
  readonly scheme: string;
  readonly network: string;
  /** Version 2: the payment requirements that the client has accepted. */
  readonly accepted: unknown;
}

/** The price of one call, in the format of x402 version 2. */
export interface PaymentRequirements {
  readonly scheme: "exact";
  readonly network: string;
  /** Atomic units. */
  readonly amount: string;
  readonly asset: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string };
}

/** When a payment is settled: after the handler and before the response, or before a long or streaming handler. */
export type SettlementTiming = "after" | "before";

export interface RoutePrice {
  readonly tier: Tier;
  readonly settles: SettlementTiming;
}

/** A confirmed charge. */
export interface Settlement {
  readonly transaction: string;
  readonly payer: Hex;
}

/** A stored response, which can be replayed. */
export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Returns the customer id of a payer, also used in logs. It is a hash, because the wallet address is personal data. */
export const payerCustomerId = (payer: Hex) => `pay-${createHash("sha256").update(payer).digest("hex").slice(0, 32)}`;

const UNKNOWN_RETRY_AFTER_SECONDS = 5;

/** The payment was rejected; the response is a 402 with the payment requirements. `reason` is an x402 error code. */
export class PaymentRejectedError extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(`The payment was rejected: ${reason}`);
    this.name = "PaymentRejectedError";
    this.reason = reason;
  }
}

export const createPaymentInProgressError = () =>
  new AppError(
    "payment_in_progress",
    "This payment is being processed. Send the same payment again to get the response.",
    { details: { retryAfterSeconds: 1 } },
  );

export const createSettlementUnknownError = (cause?: unknown) =>
  new AppError(
    "settlement_unknown",
    "It is not yet known whether the payment was settled. Send the same payment again.",
    { cause, details: { retryAfterSeconds: UNKNOWN_RETRY_AFTER_SECONDS } },
  );

/** Converts unexpected errors to `settlement_unknown`, because the payment may have been charged. */
export function throwSettlementUnknown(error: unknown): never {
  const isExpected = error instanceof AppError && error.code !== "store_unavailable";
  throw isExpected || error instanceof PaymentRejectedError ? error : createSettlementUnknownError(error);
}
