/** What a customer has booked. */
export type Plan = "free" | "pro" | "enterprise";

/** From the smallest to the largest: each may call what the ones before it may. */
export const PLANS: readonly Plan[] = ["free", "pro", "enterprise"];

/** What a call counts as in the month's quota, and what it costs where it is paid for one by one. */
export type Tier = "LISTING" | "INSIGHT" | "STRATEGY" | "DEEP";

export const TIERS: readonly Tier[] = ["LISTING", "INSIGHT", "STRATEGY", "DEEP"];

/** The two minute limits: strategy for the calls that cost most to answer, general for all others. */
export type RateClass = "general" | "strategy";

/** How much a caller may ask for. */
export interface Allowance {
  /** Calls a calendar month (UTC), by tier. */
  readonly quotas: Readonly<Record<Tier, number>>;
  /** Calls in any 60 seconds, by class. */
  readonly rateLimits: Readonly<Record<RateClass, number>>;
}

/**
 * What each plan allows (specification, Limits; contract, section 3 for pro). Enterprise numbers are set per customer;
 * until they are, those of pro hold.
 */
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

/** On any other plan a customer's own numbers count for nothing. */
export const CUSTOM_LIMITS_PLAN = "enterprise" satisfies Plan;

/** The plan's allowance, on enterprise with a customer's own numbers in place of those that it has. */
export function allowanceOf(
  plan: Plan,
  own: {
    readonly quotas: Partial<Allowance["quotas"]> | null;
    readonly rateLimits: Partial<Allowance["rateLimits"]> | null;
  },
): Allowance {
  const standard = PLAN_ALLOWANCES[plan];
  if (plan !== CUSTOM_LIMITS_PLAN || (own.quotas === null && own.rateLimits === null)) return standard;
  return {
    quotas: { ...standard.quotas, ...own.quotas },
    rateLimits: { ...standard.rateLimits, ...own.rateLimits },
  };
}

/** US dollars a call, where calls are paid for one by one (specification, first table). */
export const TIER_PRICES_USD: Readonly<Record<Tier, number>> = { LISTING: 0.01, INSIGHT: 0.1, STRATEGY: 2, DEEP: 5 };

/** US dollars a month; null is agreed upon with each customer. */
export const PLAN_PRICES_USD_MONTH: Readonly<Record<Plan, number | null>> = { free: 0, pro: 49, enterprise: null };
