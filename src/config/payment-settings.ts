import type { Hex, PaymentAsset } from "../capabilities/payments/model.ts";
import { KNOWN_ASSETS } from "../capabilities/payments/requirements.ts";

/** How calls can be paid for one by one (x402). */
export interface PaymentSettings {
  readonly asset: PaymentAsset;
  /** Without a slash at its end. */
  readonly facilitatorUrl: string;
  readonly facilitatorToken: string | null;
  /** JSON-RPC of the network; null leaves doubtful settlements to the facilitator. */
  readonly rpcUrl: string | null;
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const NETWORK = /^eip155:([1-9]\d{0,14})$/;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
/** Networks whose tokens are worth something. */
const REAL_MONEY: ReadonlySet<string> = new Set(["eip155:8453"]);

/**
 * Reads `PARALLAX_X402_*`; null without PARALLAX_X402_PAY_TO.
 *
 * @param raw  a setting's value, or its default
 * @param fault  is told what is wrong with a setting
 */
export function parsePaymentSettings(
  raw: (name: string) => string,
  context: { readonly mode: string; readonly publicUrl: string | null },
  fault: (text: string) => void,
): PaymentSettings | null {
  const payTo = raw("PARALLAX_X402_PAY_TO");
  if (payTo === "") return null;
  if (!ADDRESS.test(payTo)) fault("PARALLAX_X402_PAY_TO: give an address, 0x and 40 hexadecimal digits");
  if (context.publicUrl === null)
    fault("PARALLAX_X402_PAY_TO: needs PARALLAX_PUBLIC_URL, the address that payers are told they pay for");
  const network = raw("PARALLAX_X402_NETWORK");
  const chainId = Number(NETWORK.exec(network)?.[1] ?? 0);
  if (chainId === 0) fault(`PARALLAX_X402_NETWORK=${network}: give eip155: and a chain's number`);
  if (context.mode === "sandbox" && REAL_MONEY.has(network))
    fault(`PARALLAX_X402_NETWORK=${network}: nobody should pay real money for simulated data; use eip155:84532`);
  const token = tokenOf(raw("PARALLAX_X402_ASSET"), network);
  if (token === null) fault(`PARALLAX_X402_ASSET: give address;name;version of the token on ${network}`);
  const url = (name: string, isNeeded: boolean): string | null => {
    const text = raw(name);
    if (text === "" && !isNeeded) return null;
    const parsed = URL.canParse(text) ? new URL(text) : null;
    const isSafe = parsed?.protocol === "https:" || (parsed?.protocol === "http:" && LOOPBACK.test(parsed.hostname));
    if (!isSafe) fault(`${name}: give an https:// address (http:// only on this machine)`);
    return text.replace(/\/+$/, "");
  };
  const facilitatorUrl = url("PARALLAX_X402_FACILITATOR_URL", true) ?? "";
  const rpcUrl = url("PARALLAX_X402_RPC_URL", false);
  const { asset, name, version } = token ?? { asset: "0x" as const, name: "", version: "" };
  return {
    asset: { network: `eip155:${chainId}`, chainId, asset, name, version, payTo: payTo as Hex },
    ...{ facilitatorUrl, rpcUrl },
    facilitatorToken: raw("PARALLAX_X402_FACILITATOR_TOKEN") || null,
  };
}

function tokenOf(text: string, network: string): Pick<PaymentAsset, "asset" | "name" | "version"> | null {
  if (text === "") return KNOWN_ASSETS[network] ?? null;
  const [asset = "", name = "", version = "", ...more] = text.split(";").map((part) => part.trim());
  const isWhole = ADDRESS.test(asset) && name !== "" && version !== "" && more.length === 0;
  return isWhole ? { asset: asset as Hex, name, version } : null;
}
