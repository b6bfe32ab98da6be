import { randomBytes } from "node:crypto";
import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm";
import { ExactEvmSchemeV1 } from "@x402/evm/v1";
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import type { Hex, PrivateKeyAccount } from "viem";
import type { LocalChain } from "./local-chain.ts";

/** `fetch` of the public client library, paying by itself. */
export function payingFetch(account: PrivateKeyAccount, chain: LocalChain, version: 1 | 2 = 2): typeof fetch {
  const scheme =
    version === 2
      ? { network: chain.network, client: new ExactEvmScheme(account) }
      : { network: chain.networkV1 as never, client: new ExactEvmSchemeV1(account), x402Version: 1 };
  // Its own limits know famous tokens only.
  return wrapFetchWithPaymentFromConfig(versionOnly(version), { schemes: [scheme], spendControls: false });
}

/** The library takes version 2 where both are offered: hides the other one, as an old client would overlook it. */
function versionOnly(version: 1 | 2): typeof fetch {
  if (version === 2) return fetch;
  return async (input, init) => {
    const answer = await fetch(input, init);
    if (answer.status !== 402) return answer;
    const headers = new Headers(answer.headers);
    headers.delete("payment-required");
    return new Response(await answer.text(), { status: 402, headers });
  };
}

export const decode = (header: string | null) => JSON.parse(Buffer.from(header ?? "", "base64").toString("utf8"));

/** What a call without a payment is asked for. */
export async function demandOf(url: string, init?: RequestInit): Promise<PaymentRequired> {
  const answer = await fetch(url, init);
  await answer.arrayBuffer();
  return decode(answer.headers.get("payment-required"));
}

export interface PaymentChanges {
  readonly accepted?: Partial<PaymentRequirements>;
  readonly authorization?: Readonly<Record<string, string>>;
  readonly domain?: Readonly<Record<string, unknown>>;
  /** Who signs, where that is not the one who is said to pay. */
  readonly signer?: PrivateKeyAccount;
  readonly nonce?: Hex;
}

/** A version 2 payment header signed by hand, so that each of its values can be wrong. */
export async function signPayment(
  payer: PrivateKeyAccount,
  chain: LocalChain,
  demand: PaymentRequired,
  changes: PaymentChanges = {},
): Promise<{ readonly header: string; readonly nonce: Hex }> {
  const [wanted] = demand.accepts;
  if (wanted === undefined) throw new Error("nothing is asked for");
  const accepted = { ...wanted, ...changes.accepted };
  const now = Math.floor(Date.now() / 1_000);
  const nonce = changes.nonce ?? (`0x${randomBytes(32).toString("hex")}` as const);
  const authorization = {
    ...{ from: payer.address as string, to: accepted.payTo, value: accepted.amount },
    ...{ validAfter: String(now - 60), validBefore: String(now + 300), nonce: nonce as string },
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
    types: TYPES,
    primaryType: "TransferWithAuthorization",
    message: authorization,
  });
  const payload = { x402Version: 2, accepted, payload: { signature, authorization } };
  return { header: Buffer.from(JSON.stringify(payload)).toString("base64"), nonce };
}

const TYPES = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
};

/** A call with this payment, its body read. */
export async function callWith(url: string, header: string, init: RequestInit = {}) {
  const answer = await fetch(url, { ...init, headers: { ...init.headers, "payment-signature": header } });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}
