import { TIER_PRICES_USD } from "../../../domain/plan.ts";
import type { PaymentAsset, PaymentRequirements, RoutePrice } from "./model.ts";

/** Atomic units of one dollar. Every accepted token has six decimals. */
const UNITS_PER_DOLLAR = 1_000_000;
/** Requested validity of the authorization. It covers the handler, both facilitator requests and a slow client. */
const MAX_TIMEOUT_SECONDS = 300;
/** Version 1 network names by version 2 network id (CAIP-2). */
const NETWORK_NAMES_V1: Readonly<Record<string, string>> = {
  "eip155:8453": "base",
  "eip155:84532": "base-sepolia",
};

/** Default token per network: USDC. Its EIP-712 name differs between networks. */
export const DEFAULT_ASSETS: Readonly<Record<string, Pick<PaymentAsset, "asset" | "name" | "version">>> = {
  "eip155:8453": { asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", name: "USD Coin", version: "2" },
  "eip155:84532": { asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e", name: "USDC", version: "2" },
};

/** Returns the payment requirements of a route, derived from the price table and the configuration. */
export function createRouteRequirements(asset: PaymentAsset, { tier }: RoutePrice): PaymentRequirements {
  return createRequirements(asset, String(Math.round(TIER_PRICES_USD[tier] * UNITS_PER_DOLLAR)));
}

/** @param amount  atomic units */
export function createRequirements(asset: PaymentAsset, amount: string): PaymentRequirements {
  return {
    scheme: "exact",
    network: asset.network,
    amount,
    asset: asset.asset,
    payTo: asset.payTo,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    extra: { name: asset.name, version: asset.version },
  };
}

export const networkNameV1 = (network: string): string | null => NETWORK_NAMES_V1[network] ?? null;

/**
 * Formats the requirements for both versions: the header PAYMENT-REQUIRED (2) and the response body (1). The `accepts`
 * array of the body is empty if version 1 has no name for the network.
 *
 * @param resource  `url` without the query
 * @param error  x402 error code of the rejected payment; null if none was sent
 */
export function formatRequirements(
  requirements: PaymentRequirements,
  resource: { readonly url: string; readonly description: string },
  error: string | null,
) {
  const reason = error ?? "payment_required";
  const { scheme, amount, payTo, maxTimeoutSeconds, asset, extra } = requirements;
  const describedResource = { ...resource, mimeType: "application/json" };
  const network = networkNameV1(requirements.network);
  const acceptV1 = {
    scheme,
    network,
    maxAmountRequired: amount,
    resource: resource.url,
    description: resource.description,
    mimeType: describedResource.mimeType,
    outputSchema: null,
    payTo,
    maxTimeoutSeconds,
    asset,
    extra,
  };
  const requirementsV2 = { x402Version: 2, error: reason, resource: describedResource, accepts: [requirements] };
  return {
    header: Buffer.from(JSON.stringify(requirementsV2)).toString("base64"),
    body: { x402Version: 1, error: reason, accepts: network === null ? [] : [acceptV1] },
  };
}
