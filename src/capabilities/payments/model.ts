import type { Tier } from "../../domain/plan.ts";

/**
 * What becomes of a payment. reserved: somebody works on it. verified: the facilitator finds it good. settling: asked to
 * be charged. settled: charged, its answer still owed. delivered: charged and answered. rejected: worth nothing.
 * released: not charged, usable again. unknown: perhaps charged; nobody gets anything until that is known.
 */
export type PaymentState = (typeof PAYMENT_STATES)[number];

export const PAYMENT_STATES = [
  ...(["reserved", "verified", "settling", "settled", "delivered"] as const),
  ...(["rejected", "released", "unknown"] as const),
] as const;

/** `0x` and hexadecimal digits, in lower case. */
export type Hex = `0x${string}`;

/** The token that is taken, where it goes, and what the payer's wallet has to sign for it (EIP-712). */
export interface PaymentAsset {
  /** CAIP-2, for example `eip155:8453`. */
  readonly network: `eip155:${number}`;
  readonly chainId: number;
  /** The token's contract, in the spelling that is told to payers. */
  readonly asset: Hex;
  /** The token's own name and version in its EIP-712 domain; they differ between networks. */
  readonly name: string;
  readonly version: string;
  readonly payTo: Hex;
}

/** An EIP-3009 transfer that its payer has signed. Addresses and nonce in lower case, numbers in decimal digits. */
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

/** A signed authorization: whoever holds it can move this amount from the payer to us, once, and nothing else. */
export interface SignedAuthorization {
  readonly signature: Hex;
  readonly authorization: Authorization;
}

/** A payment as a client sent it: well-formed, nothing else. */
export interface Payment extends SignedAuthorization {
  readonly version: 1 | 2;
  readonly scheme: string;
  readonly network: string;
  /** Version 2: which of our requirements it says to meet. */
  readonly accepted: unknown;
}

/** What one call costs, in version 2's words. */
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

/** When a route's payment is settled: after the work and before its answer, or before work that is long or streams. */
export type Settles = "after" | "before";

/** What a route asks of whoever pays for it by the call. */
export interface RoutePrice {
  readonly tier: Tier;
  readonly settles: Settles;
}

/** A charge that is certain. */
export interface Settlement {
  readonly transaction: string;
  readonly payer: Hex;
}

/** An answer as it can be kept and given again. */
export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}
