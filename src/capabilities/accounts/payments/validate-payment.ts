import { isDeepStrictEqual } from "node:util";
import type { Payment, PaymentAsset, PaymentRequirements, SettlementTiming, SignedAuthorization } from "./model.ts";
import { networkNameV1 } from "./requirements.ts";

/**
 * Minimum remaining validity of an authorization when its call begins, in seconds. Settling takes up to 30 s; a handler
 * that runs before settlement may take another 30 s.
 */
const REMAINING_SECONDS_MIN: Readonly<Record<SettlementTiming, number>> = { after: 90, before: 45 };
/** Maximum remaining validity: an expired unused authorization can certainly not be charged, so it should expire soon. */
const REMAINING_SECONDS_MAX = 86_400;
const SIGNED_TYPES = {
  EIP712Domain: [
    { name: "name", type: "string" },
    { name: "version", type: "string" },
    { name: "chainId", type: "uint256" },
    { name: "verifyingContract", type: "address" },
  ],
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;

/**
 * Compares the payment with the requirements. Client values are only compared, never used.
 *
 * @returns an x402 error code; null if the payment matches
 */
export function validatePayment(payment: Payment, requirements: PaymentRequirements): string | null {
  const { authorization } = payment;
  if (payment.scheme !== requirements.scheme) return "unsupported_scheme";
  const network = payment.version === 1 ? networkNameV1(requirements.network) : requirements.network;
  if (payment.network !== network) return "invalid_network";
  if (payment.version === 2 && !isDeepStrictEqual(payment.accepted, requirements))
    return "invalid_payment_requirements";
  if (authorization.to !== requirements.payTo.toLowerCase()) return "invalid_exact_evm_payload_recipient_mismatch";
  // Scheme "exact": overpaying is also an error.
  if (authorization.value !== requirements.amount) return "invalid_exact_evm_payload_authorization_value_mismatch";
  return null;
}

/**
 * Checks that the authorization is valid now and long enough to be settled.
 *
 * @param now  Unix milliseconds
 * @returns an x402 error code; null if it is valid
 */
export function validateAuthorizationTime(
  { authorization }: SignedAuthorization,
  settles: SettlementTiming,
  now: number,
): string | null {
  const seconds = BigInt(Math.floor(now / 1_000));
  // Strict, as in the token contract, whose clock is the timestamp of the last block.
  if (BigInt(authorization.validAfter) >= seconds) return "invalid_exact_evm_payload_authorization_valid_after";
  const remaining = BigInt(authorization.validBefore) - seconds;
  return remaining < REMAINING_SECONDS_MIN[settles] || remaining > REMAINING_SECONDS_MAX
    ? "invalid_exact_evm_payload_authorization_valid_before"
    : null;
}

/** Whether the payer has signed exactly this transfer of exactly this token. Makes no network request. */
export type SignatureCheck = (payment: SignedAuthorization) => boolean;

/** Imports the library lazily, so that a service without payments starts without it. */
export async function createSignatureCheck(asset: PaymentAsset): Promise<SignatureCheck> {
  const { recoverAddressTyped } = await import("micro-eth-signer");
  const { name, version, chainId } = asset;
  const domain = { name, version, chainId: BigInt(chainId), verifyingContract: asset.asset.toLowerCase() };
  const recoverSigner = ({ signature, authorization }: SignedAuthorization) => {
    const { from, to, value, validAfter, validBefore, nonce } = authorization;
    const times = { validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) };
    return recoverAddressTyped(signature, {
      domain,
      types: SIGNED_TYPES,
      primaryType: "TransferWithAuthorization",
      message: { from, to, value: BigInt(value), ...times, nonce: Buffer.from(nonce.slice(2), "hex") },
    });
  };
  return (payment) => {
    try {
      return recoverSigner(payment).toLowerCase() === payment.authorization.from;
    } catch {
      // Throws for signatures that tokens reject: s above half of the curve order, v other than 27 or 28, or r not on
      // the curve.
      return false;
    }
  };
}

/** Returns the first configured address with a wrong EIP-55 checksum, or null if all are correct. */
export async function findInvalidChecksum({ asset, payTo }: PaymentAsset) {
  const { addr } = await import("micro-eth-signer");
  const addresses = [
    { setting: "PARALLAX_X402_PAY_TO", address: payTo },
    { setting: "PARALLAX_X402_ASSET", address: asset },
  ];
  return addresses.find(({ address }) => !addr.isValid(address)) ?? null;
}
