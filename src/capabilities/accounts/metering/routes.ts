import type { FastifyInstance } from "fastify";
import { METERING, type RouteEntry } from "../../../domain/metering.ts";
import {
  PLAN_ALLOWANCES,
  PLAN_PRICES_USD_MONTH,
  PLANS,
  type Plan,
  TIER_PRICES_USD,
  TIERS,
} from "../../../domain/plan.ts";
import { sendPreserialised } from "../../../http/response/preserialised.ts";
import { defineRoute } from "../../../http/route.ts";
import { type PlanQuotas, type PlanRateLimits, PricingSchema } from "./schema.ts";

/** GET /v1/pricing: the prices of tiers and plans, generated from the route table. */
export function pricingRoutes(app: FastifyInstance): void {
  let bytes: Buffer | null = null;
  defineRoute(app, {
    method: "GET",
    url: "/v1/pricing",
    access: "public",
    metering: METERING.FREE,
    tag: "Analytics",
    summary: "Retrieve prices",
    operationId: "get_pricing",
    responses: { 200: PricingSchema },
    handler({ reply }) {
      // Created on the first call, because all routes are registered by then.
      bytes ??= Buffer.from(JSON.stringify(presentPricing(app.routeTable.entries)));
      return sendPreserialised(reply, bytes);
    },
  });
}

function presentPricing(routes: readonly RouteEntry[]) {
  return {
    currency: "USD",
    tiers: TIERS.map((tier) => ({
      tier: tier.toLowerCase(),
      price_usd: TIER_PRICES_USD[tier],
      endpoints: routes
        .filter(({ metering }) => metering.priceTier === tier)
        .map(({ method, path }) => `${method} ${path}`),
    })),
    plans: PLANS.map((plan) => ({ plan, price_usd_month: PLAN_PRICES_USD_MONTH[plan], ...presentAllowance(plan) })),
  };
}

/** Returns null values for the enterprise plan, because its limits are individual. */
function presentAllowance(plan: Plan): { quotas: PlanQuotas | null; rate_limits: PlanRateLimits | null } {
  if (plan === "enterprise") return { quotas: null, rate_limits: null };
  const { quotas, rateLimits } = PLAN_ALLOWANCES[plan];
  const { LISTING: listing, INSIGHT: insight, STRATEGY: strategy, DEEP: deep } = quotas;
  return { quotas: { listing, insight, strategy, deep }, rate_limits: rateLimits };
}
