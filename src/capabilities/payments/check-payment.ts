import { isDeepStrictEqual } from "node:util";
import type { Hex, Payment, PaymentAsset, PaymentRequirements, Settles, SignedAuthorization } from "./model.ts";
import { networkNameV1 } from "./requirements.ts";

/**
 * What has to be left of an authorization when its call begins, in seconds: settling takes up to half a minute, and where
 * it follows the work, that may take as long before.
 */
const REMAINING_SECONDS_MIN: Readonly<Record<Settles, number>> = { after: 90, before: 45 };
/** Nobody needs more, and what has run out is known to be never charged. */
const REMAINING_SECONDS_MAX = 86_400;
/** Half of the curve's order: tokens refuse the other half, in which every signature has a twin. */
const SIGNATURE_S_MAX = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const TRANSFER_TYPES = {
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
 * Why the payment is not the one that was asked for, in the protocol's words, or null. Every value is compared with our
 * own; none of the client's is taken over.
 */
export function findMismatch(payment: Payment, requirements: PaymentRequirements): string | null {
  const { authorization } = payment;
  if (payment.scheme !== requirements.scheme) return "unsupported_scheme";
  const network = payment.version === 1 ? networkNameV1(requirements.network) : requirements.network;
  if (payment.network !== network) return "invalid_network";
  if (payment.version === 2 && !isDeepStrictEqual(payment.accepted, requirements))
    return "invalid_payment_requirements";
  if (authorization.to !== requirements.payTo.toLowerCase()) return "invalid_exact_evm_payload_recipient_mismatch";
  // "exact": more is as wrong as less.
  if (authorization.value !== requirements.amount) return "invalid_exact_evm_payload_authorization_value_mismatch";
  return null;
}

/**
 * Why the authorization cannot be charged in time for a new call, or null.
 *
 * @param now  Unix milliseconds
 */
export function findUntimely({ authorization }: SignedAuthorization, settles: Settles, now: number): string | null {
  const seconds = BigInt(Math.floor(now / 1_000));
  // The token asks for strictly later, and its clock is the last block's.
  if (BigInt(authorization.validAfter) >= seconds) return "invalid_exact_evm_payload_authorization_valid_after";
  const remaining = BigInt(authorization.validBefore) - seconds;
  return remaining < REMAINING_SECONDS_MIN[settles] || remaining > REMAINING_SECONDS_MAX
    ? "invalid_exact_evm_payload_authorization_valid_before"
    : null;
}

/** Whether the payer has signed exactly this transfer of exactly this token; asks nobody. */
export type SignatureCheck = (payment: SignedAuthorization) => Promise<boolean>;

/** Loads what it needs only here: who takes no payments starts without it. */
export async function createSignatureCheck(asset: PaymentAsset): Promise<SignatureCheck> {
  const { recoverTypedDataAddress } = await import("viem/utils");
  const { name, version, chainId } = asset;
  const domain = { name, version, chainId, verifyingContract: asset.asset };
  return async ({ signature, authorization }) => {
    if (!isCanonical(signature)) return false;
    const { from, to, value, validAfter, validBefore, nonce } = authorization;
    const message = {
      ...{ from, to, nonce },
      ...{ value: BigInt(value), validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) },
    };
    const typed = {
      domain,
      types: TRANSFER_TYPES,
      primaryType: "TransferWithAuthorization",
      message,
      signature,
    } as const;
    // Numbers that are on no curve make it throw.
    const signer = await recoverTypedDataAddress(typed).catch(() => null);
    return signer?.toLowerCase() === from;
  };
}

/** The address whose capital letters do not agree with it, which is how a slip of the keyboard shows; null where none does. */
export async function findMisspeltAddress({ asset, payTo }: PaymentAsset) {
  const { isAddress } = await import("viem/utils");
  const addresses = [
    { setting: "PARALLAX_X402_PAY_TO", address: payTo },
    { setting: "PARALLAX_X402_ASSET", address: asset },
  ];
  return addresses.find(({ address }) => !isAddress(address)) ?? null;
}

/** The spelling that tokens take: s in the lower half, v 27 or 28. */
function isCanonical(signature: Hex): boolean {
  const s = BigInt(`0x${signature.slice(66, 130)}`);
  const v = signature.slice(130);
  return s <= SIGNATURE_S_MAX && (v === "1b" || v === "1c");
}
