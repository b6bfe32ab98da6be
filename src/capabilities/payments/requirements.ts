import { TIER_PRICES_USD } from "../../domain/plan.ts";
import type { PaymentAsset, PaymentRequirements, RoutePrice } from "./model.ts";

/** A dollar in atomic units of a token with six decimals, as every dollar token that is taken has. */
const UNITS_PER_DOLLAR = 1_000_000;
/** For how long a payer's wallet is asked to sign: the work, both exchanges with the facilitator, and a slow client. */
const MAX_TIMEOUT_SECONDS = 300;
/** Version 1 has names for networks where version 2 has CAIP-2. */
const NETWORK_NAMES_V1: Readonly<Record<string, string>> = {
  "eip155:8453": "base",
  "eip155:84532": "base-sepolia",
};

/** The tokens that need no setting of their own: USDC, whose EIP-712 name is not the same everywhere. */
export const KNOWN_ASSETS: Readonly<Record<string, Pick<PaymentAsset, "asset" | "name" | "version">>> = {
  "eip155:8453": { asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", name: "USD Coin", version: "2" },
  "eip155:84532": { asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e", name: "USDC", version: "2" },
};

/** What a call of this price costs; from our own table and settings alone. */
export function requirementsFor(asset: PaymentAsset, { tier }: RoutePrice): PaymentRequirements {
  return requirementsOf(asset, String(Math.round(TIER_PRICES_USD[tier] * UNITS_PER_DOLLAR)));
}

/** @param amount  atomic units; of a payment that was checked when it came */
export function requirementsOf(asset: PaymentAsset, amount: string): PaymentRequirements {
  return {
    ...{ scheme: "exact", network: asset.network, amount },
    asset: asset.asset,
    payTo: asset.payTo,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    extra: { name: asset.name, version: asset.version },
  };
}

export const networkNameV1 = (network: string): string | null => NETWORK_NAMES_V1[network] ?? null;

/** What is asked for, as both versions tell it. */
export interface PaymentDemand {
  /** Value of the header PAYMENT-REQUIRED. */
  readonly header: string;
  /** Version 1's answer. Where that has no name for the network its list is empty. */
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * @param resource  the called address, without its query
 * @param error  why a payment was not taken, in the protocol's words; null where none was sent
 */
export function demandFor(
  requirements: PaymentRequirements,
  resource: { readonly url: string; readonly description: string },
  error: string | null,
): PaymentDemand {
  const reason = error ?? "payment_required";
  const { scheme, network, amount, asset, payTo, maxTimeoutSeconds, extra } = requirements;
  const described = { ...resource, mimeType: "application/json" };
  const name = networkNameV1(network);
  const acceptsV1 =
    name === null
      ? []
      : [
          {
            ...{ scheme, network: name, maxAmountRequired: amount, resource: resource.url },
            ...{ description: resource.description, mimeType: described.mimeType, outputSchema: null },
            ...{ payTo, maxTimeoutSeconds, asset, extra },
          },
        ];
  const v2 = { x402Version: 2, error: reason, resource: described, accepts: [requirements] };
  return {
    header: Buffer.from(JSON.stringify(v2)).toString("base64"),
    body: { x402Version: 1, error: reason, accepts: acceptsV1 },
  };
}
