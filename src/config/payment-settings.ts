import type { Hex, PaymentAsset, PaymentSettings } from "../capabilities/accounts/payments/model.ts";
import { DEFAULT_ASSETS } from "../capabilities/accounts/payments/requirements.ts";
import { isLoopbackHost } from "../lib/loopback.ts";
import type { SettingsReader } from "./settings-reader.ts";

const WALLET_ADDRESS_PATTERN = /^0x[0-9a-fA-F]{40}$/;
const NETWORK_PATTERN = /^eip155:([1-9]\d{0,14})$/;
/** Networks whose tokens have real value. */
const MAINNETS: ReadonlySet<string> = new Set(["eip155:8453"]);

/** Reads `PARALLAX_X402_*`. Returns null if PARALLAX_X402_PAY_TO is unset. */
export function parsePaymentSettings(
  reader: SettingsReader,
  settings: { readonly mode: string; readonly publicUrl: string | null },
): PaymentSettings | null {
  const payTo = reader.text("PARALLAX_X402_PAY_TO");
  if (payTo === "") return null;
  const { errors } = reader;
  if (!WALLET_ADDRESS_PATTERN.test(payTo))
    errors.push("PARALLAX_X402_PAY_TO: give an address: 0x and 40 hexadecimal digits");
  if (settings.publicUrl === null)
    errors.push("PARALLAX_X402_PAY_TO requires PARALLAX_PUBLIC_URL, the base URL of the resources that payers buy");
  const network = reader.text("PARALLAX_X402_NETWORK");
  const chainId = Number(NETWORK_PATTERN.exec(network)?.[1] ?? 0);
  if (chainId === 0) errors.push(`PARALLAX_X402_NETWORK=${network}: give eip155: and a chain id`);
  if (settings.mode === "sandbox" && MAINNETS.has(network))
    errors.push(`PARALLAX_X402_NETWORK=${network}: simulated data must not cost real money; use eip155:84532`);
  const token = parseToken(reader.text("PARALLAX_X402_ASSET"), network);
  if (token === null) errors.push(`PARALLAX_X402_ASSET: give address;name;version of the token on ${network}`);
  const parseSecureUrl = (name: string): string => {
    const text = reader.text(name);
    const { protocol, hostname } = URL.canParse(text) ? new URL(text) : { protocol: "", hostname: "" };
    if (protocol !== "https:" && !(protocol === "http:" && isLoopbackHost(hostname)))
      errors.push(`${name}: give an https:// URL (http:// is allowed on loopback only)`);
    return text.replace(/\/+$/, "");
  };
  const { asset, name, version } = token ?? { asset: "0x" as const, name: "", version: "" };
  return {
    asset: { network: `eip155:${chainId}`, chainId, asset, name, version, payTo: payTo as Hex },
    facilitatorUrl: parseSecureUrl("PARALLAX_X402_FACILITATOR_URL"),
    facilitatorToken: reader.textOrNull("PARALLAX_X402_FACILITATOR_TOKEN"),
    rpcUrl: reader.text("PARALLAX_X402_RPC_URL") === "" ? null : parseSecureUrl("PARALLAX_X402_RPC_URL"),
  };
}

function parseToken(text: string, network: string): Pick<PaymentAsset, "asset" | "name" | "version"> | null {
  if (text === "") return DEFAULT_ASSETS[network] ?? null;
  const [asset = "", name = "", version = "", ...rest] = text.split(";").map((part) => part.trim());
  const isComplete = WALLET_ADDRESS_PATTERN.test(asset) && name !== "" && version !== "" && rest.length === 0;
  return isComplete ? { asset: asset as Hex, name, version } : null;
}
