export type Plan = "free" | "pro" | "enterprise";

/** Plans from smallest to largest. Each plan includes the routes of the smaller plans. */
export const PLANS: readonly Plan[] = ["free", "pro", "enterprise"];

/** Tier of a route. It decides the quota that a call counts towards and the pay-per-request price. */
export type Tier = "LISTING" | "INSIGHT" | "STRATEGY" | "DEEP";

export const TIERS: readonly Tier[] = ["LISTING", "INSIGHT", "STRATEGY", "DEEP"];

/** Classes of limits per minute: strategy for the most expensive calls, general for all others. */
export type RateClass = "general" | "strategy";

export interface Allowance {
  /** Calls per calendar month (UTC), by tier. */
  readonly quotas: Readonly<Record<Tier, number>>;
  /** Calls in any 60 seconds, by class. */
  readonly rateLimits: Readonly<Record<RateClass, number>>;
}

/** The limits of each plan. Enterprise limits are set per customer; these are their defaults. */
export const PLAN_ALLOWANCES: Readonly<Record<Plan, Allowance>> = {
  free: {
    quotas: { LISTING: 100, INSIGHT: 10, STRATEGY: 0, DEEP: 0 },
    rateLimits: { general: 30, strategy: 0 },
  },
  pro: {
    quotas: { LISTING: 10_000, INSIGHT: 500, STRATEGY: 50, DEEP: 10 },
    rateLimits: { general: 120, strategy: 5 },
  },
  enterprise: {
    quotas: { LISTING: 10_000, INSIGHT: 500, STRATEGY: 50, DEEP: 10 },
    rateLimits: { general: 120, strategy: 5 },
  },
};

/** Custom limits of a customer apply only on this plan. */
export const CUSTOM_LIMITS_PLAN = "enterprise" satisfies Plan;

/** Returns the plan's limits. On enterprise, the customer's custom limits override them. */
export function allowanceOf(
  plan: Plan,
  custom: {
    readonly quotas: Partial<Allowance["quotas"]> | null;
    readonly rateLimits: Partial<Allowance["rateLimits"]> | null;
  },
): Allowance {
  const planAllowance = PLAN_ALLOWANCES[plan];
  if (plan !== CUSTOM_LIMITS_PLAN || (custom.quotas === null && custom.rateLimits === null)) return planAllowance;
  return {
    quotas: { ...planAllowance.quotas, ...custom.quotas },
    rateLimits: { ...planAllowance.rateLimits, ...custom.rateLimits },
  };
}

/** Price of a pay-per-request call in US dollars, by tier. */
export const TIER_PRICES_USD: Readonly<Record<Tier, number>> = { LISTING: 0.01, INSIGHT: 0.1, STRATEGY: 2, DEEP: 5 };

/** Price in US dollars per month; null if it is agreed with each customer. */
export const PLAN_PRICES_USD_MONTH: Readonly<Record<Plan, number | null>> = { free: 0, pro: 49, enterprise: null };
