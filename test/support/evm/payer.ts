import { randomBytes } from "node:crypto";
import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm";
import { ExactEvmSchemeV1 } from "@x402/evm/v1";
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import type { Hex, PrivateKeyAccount } from "viem";
import type { LocalChain } from "./local-chain.ts";

/** Returns the `fetch` of the public client library, which pays automatically. */
export function payingFetch(account: PrivateKeyAccount, chain: LocalChain, version: 1 | 2 = 2): typeof fetch {
  const scheme =
    version === 2
      ? { network: chain.network, client: new ExactEvmScheme(account) }
      : { network: chain.networkV1 as never, client: new ExactEvmSchemeV1(account), x402Version: 1 };
  // The library's spend controls support only well-known tokens.
  return wrapFetchWithPaymentFromConfig(hideOtherVersions(version), { schemes: [scheme], spendControls: false });
}

/** For version 1, removes the version 2 header, because the library prefers version 2. */
function hideOtherVersions(version: 1 | 2): typeof fetch {
  if (version === 2) return fetch;
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.status !== 402) return response;
    const headers = new Headers(response.headers);
    headers.delete("payment-required");
    return new Response(await response.text(), { status: 402, headers });
  };
}

export const decode = (header: string | null) => JSON.parse(Buffer.from(header ?? "", "base64").toString("utf8"));

/** Sends a request without a payment and returns the payment requirements. */
export async function fetchRequirements(url: string, init?: RequestInit): Promise<PaymentRequired> {
  const response = await fetch(url, init);
  await response.arrayBuffer();
  return decode(response.headers.get("payment-required"));
}

export interface PaymentChanges {
  readonly accepted?: Partial<PaymentRequirements>;
  readonly authorization?: Readonly<Record<string, string>>;
  readonly domain?: Readonly<Record<string, unknown>>;
  /** Overrides the signer; the default is the payer. */
  readonly signer?: PrivateKeyAccount;
  readonly nonce?: Hex;
}

/** Builds and signs a version 2 payment header. `changes` overrides any of its values. */
export async function signPayment(
  payer: PrivateKeyAccount,
  chain: LocalChain,
  requirements: PaymentRequired,
  changes: PaymentChanges = {},
): Promise<{ readonly header: string; readonly nonce: Hex }> {
  const [requirement] = requirements.accepts;
  if (requirement === undefined) throw new Error("the requirements are empty");
  const accepted = { ...requirement, ...changes.accepted };
  const now = Math.floor(Date.now() / 1_000);
  const nonce = changes.nonce ?? (`0x${randomBytes(32).toString("hex")}` as const);
  const authorization = {
    from: payer.address as string,
    to: accepted.payTo,
    value: accepted.amount,
    validAfter: String(now - 60),
    validBefore: String(now + 300),
    nonce: nonce as string,
    ...changes.authorization,
  };
  const signature = await (changes.signer ?? payer).signTypedData({
    domain: {
      name: String(accepted.extra.name),
      version: String(accepted.extra.version),
      chainId: chain.chainId,
      verifyingContract: accepted.asset as Hex,
      ...changes.domain,
    },
    types: TRANSFER_TYPES,
    primaryType: "TransferWithAuthorization",
    message: authorization,
  });
  const payload = { x402Version: 2, accepted, payload: { signature, authorization } };
  return { header: Buffer.from(JSON.stringify(payload)).toString("base64"), nonce };
}

export const TRANSFER_TYPES = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
};

/** Sends a request with a payment header and reads the complete body. */
export async function callWith(url: string, header: string, init: RequestInit = {}) {
  const response = await fetch(url, { ...init, headers: { ...init.headers, "payment-signature": header } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
