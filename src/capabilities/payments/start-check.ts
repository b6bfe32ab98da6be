import Type from "typebox";
import { Compile } from "typebox/compile";
import type { HttpOut } from "../../ports/http-out.ts";
import { queryChain } from "./chain.ts";
import type { PaymentAsset } from "./model.ts";

const DEADLINE_MS = 5_000;
const ANSWER_BYTES_MAX = 256 * 1024;
/** Prices are told in a token's smallest units, a millionth of a dollar each. */
const DECIMALS = 6;
/** The first four bytes of keccak-256 of `decimals()`. */
const DECIMALS_CALL = "0x313ce567";

const supportedCheck = Compile(
  Type.Object({
    kinds: Type.Array(Type.Object({ x402Version: Type.Number(), scheme: Type.String(), network: Type.String() })),
  }),
);

/**
 * What facilitator and chain say that does not fit the settings, in words for the operator; nothing where they are away.
 * Whoever takes payments finds out here, and not from the first payer.
 */
export async function findDisagreements(options: {
  readonly http: HttpOut;
  readonly asset: PaymentAsset;
  readonly facilitatorUrl: string;
  readonly facilitatorToken: string | null;
  readonly rpcUrl: string | null;
}): Promise<readonly string[]> {
  const { rpcUrl } = options;
  const checks = [findUnsupported(options), ...(rpcUrl === null ? [] : [findWrongChain({ ...options, rpcUrl })])];
  const found = await Promise.all(checks.map((check) => check.catch(() => null)));
  return found.filter((text) => text !== null);
}

type Options = Parameters<typeof findDisagreements>[0];

async function findUnsupported({ http, asset, facilitatorUrl, facilitatorToken }: Options): Promise<string | null> {
  const headers: Record<string, string> = {};
  if (facilitatorToken !== null) headers.authorization = `Bearer ${facilitatorToken}`;
  const bounds = { deadlineMs: DEADLINE_MS, maxBodyBytes: ANSWER_BYTES_MAX };
  const { body } = await http.send({ method: "GET", url: `${facilitatorUrl}/supported`, headers, ...bounds });
  const value: unknown = JSON.parse(body);
  if (!supportedCheck.Check(value)) return null;
  const isSupported = value.kinds.some(
    ({ x402Version, scheme, network }) => x402Version === 2 && scheme === "exact" && network === asset.network,
  );
  return isSupported ? null : `PARALLAX_X402_FACILITATOR_URL: it does not support version 2, exact, ${asset.network}`;
}

async function findWrongChain({ http, asset, rpcUrl }: Options & { readonly rpcUrl: string }): Promise<string | null> {
  const ask = (method: string, params: readonly unknown[]) =>
    queryChain({ http, url: rpcUrl, deadlineMs: DEADLINE_MS }, method, params);
  const chainId = await ask("eth_chainId", []);
  if (typeof chainId === "string" && Number(chainId) !== asset.chainId)
    return `PARALLAX_X402_RPC_URL: it is of chain ${Number(chainId)}, and payments are on ${asset.network}`;
  const decimals = await ask("eth_call", [{ to: asset.asset, data: DECIMALS_CALL }, "latest"]);
  // "0x" is the answer of an address without a contract.
  if (typeof decimals === "string" && (decimals === "0x" || Number(decimals) !== DECIMALS))
    return `PARALLAX_X402_ASSET: ${asset.asset} is no token with ${DECIMALS} decimals on ${asset.network}`;
  return null;
}
