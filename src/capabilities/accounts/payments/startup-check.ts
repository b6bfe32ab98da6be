import Type from "typebox";
import { Compile } from "typebox/schema";
import type { HttpOut } from "../../../ports/http-out.ts";
import { callChainRpc } from "./chain.ts";
import type { PaymentSettings } from "./model.ts";

const TIMEOUT_MS = 5_000;
const RESPONSE_BYTES_MAX = 256 * 1024;
/** Prices assume tokens whose atomic unit is a millionth of a dollar. */
const TOKEN_DECIMALS = 6;
/** The first four bytes of keccak-256 of `decimals()`. */
const DECIMALS_CALL = "0x313ce567";

const supportedCheck = Compile(
  Type.Object({
    kinds: Type.Array(Type.Object({ x402Version: Type.Number(), scheme: Type.String(), network: Type.String() })),
  }),
);

type CheckOptions = PaymentSettings & { readonly http: HttpOut };

/**
 * Compares the configuration with the facilitator and the chain, so that errors are reported at start and not at the
 * first payment.
 *
 * @returns warnings for the operator; no warning for a service that does not respond
 */
export async function findConfigurationErrors(options: CheckOptions): Promise<readonly string[]> {
  const { rpcUrl } = options;
  const checks = [findFacilitatorError(options), rpcUrl === null ? null : findChainError({ ...options, rpcUrl })];
  const warnings = await Promise.all(checks.map((check) => check?.catch(() => null) ?? null));
  return warnings.filter((text) => text !== null);
}

async function findFacilitatorError({
  http,
  asset,
  facilitatorUrl,
  facilitatorToken,
}: CheckOptions): Promise<string | null> {
  const headers: Record<string, string> = {};
  if (facilitatorToken !== null) headers.authorization = `Bearer ${facilitatorToken}`;
  const bounds = { deadlineMs: TIMEOUT_MS, maxBodyBytes: RESPONSE_BYTES_MAX };
  const { body } = await http.send({ method: "GET", url: `${facilitatorUrl}/supported`, headers, ...bounds });
  const value: unknown = JSON.parse(body);
  if (!supportedCheck.Check(value)) return null;
  const isSupported = value.kinds.some(
    ({ x402Version, scheme, network }) => x402Version === 2 && scheme === "exact" && network === asset.network,
  );
  return isSupported
    ? null
    : `PARALLAX_X402_FACILITATOR_URL: the facilitator does not support x402 version 2, scheme exact, on ${asset.network}`;
}

async function findChainError({
  http,
  asset,
  rpcUrl,
}: CheckOptions & { readonly rpcUrl: string }): Promise<string | null> {
  const call = (method: string, params: readonly unknown[]) =>
    callChainRpc({ http, url: rpcUrl, deadlineMs: TIMEOUT_MS }, method, params);
  const chainId = await call("eth_chainId", []);
  if (typeof chainId === "string" && Number(chainId) !== asset.chainId)
    return `PARALLAX_X402_RPC_URL: the endpoint serves chain ${Number(chainId)}, but payments are on ${asset.network}`;
  const decimals = await call("eth_call", [{ to: asset.asset, data: DECIMALS_CALL }, "latest"]);
  // "0x": there is no contract at this address.
  if (typeof decimals === "string" && (decimals === "0x" || Number(decimals) !== TOKEN_DECIMALS))
    return `PARALLAX_X402_ASSET: ${asset.asset} is not a token with ${TOKEN_DECIMALS} decimals on ${asset.network}`;
  return null;
}
