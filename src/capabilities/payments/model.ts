import { createHash } from "node:crypto";
import { AppError } from "../../domain/errors.ts";
import type { Tier } from "../../domain/plan.ts";

/**
 * The states of a payment:
 * reserved: a process works on it. verified: the facilitator has accepted it. settling: the charge was requested.
 * settled: charged, and its response not delivered yet. delivered: charged, and its response delivered.
 * rejected: will never be charged. released: not charged, can be used again.
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

/** The accepted token, its payee, and the EIP-712 domain that the payer's wallet signs for. */
export interface PaymentAsset {
  /** CAIP-2, for example `eip155:8453`. */
  readonly network: `eip155:${number}`;
  readonly chainId: number;
  /** Address of the token contract, as sent to payers. */
  readonly asset: Hex;
  /** Name and version in the token's EIP-712 domain; they differ between networks. */
  readonly name: string;
  readonly version: string;
  readonly payTo: Hex;
}

/** An EIP-3009 transfer. Addresses and nonce in lower case, numbers as decimal digits. */
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

/** An authorization signed by its payer. Its holder can transfer this amount to the payee once, and nothing else. */
export interface SignedAuthorization {
  readonly signature: Hex;
  readonly authorization: Authorization;
}

/** A well-formed payment as sent by the client; nothing else is checked yet. */
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
export type Settles = "after" | "before";

export interface RoutePrice {
  readonly tier: Tier;
  readonly settles: Settles;
}

/** A charge that is certain. */
export interface Settlement {
  readonly transaction: string;
  readonly payer: Hex;
}

/** A response that can be replayed. */
export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Customer id and log name of a payer. A hash, because the address is personal data. */
export const payerName = (payer: Hex) => `pay-${createHash("sha256").update(payer).digest("hex").slice(0, 32)}`;

const UNKNOWN_RETRY_AFTER_SECONDS = 5;

/** The payment is not accepted. `reason` is an x402 error code. Becomes a 402 with the payment requirements. */
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

/** Once a charge is possible, an unexpected failure must not report the payment as failed. */
export function throwSettlementUnknown(error: unknown): never {
  const isExpected = error instanceof AppError && error.code !== "store_unavailable";
  throw isExpected || error instanceof PaymentRejectedError ? error : createSettlementUnknownError(error);
}
