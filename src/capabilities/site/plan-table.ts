import { PLAN_ALLOWANCES, PLAN_PRICES_USD_MONTH, PLANS, type Plan, TIERS } from "../../domain/plan.ts";

/** Shown instead of the price and the limits of a plan without a list price. */
const NEGOTIATED = "by agreement";

/** Formats the price of a plan per month, for example "$49". */
export function formatPlanPrice(plan: Plan): string {
  const dollars = PLAN_PRICES_USD_MONTH[plan];
  return dollars === null ? NEGOTIATED : `$${dollars}`;
}

/** Returns the rows of a table of the plans: a name, and the value of each plan. */
export function listPlanRows(): readonly (readonly [name: string, ...values: string[]])[] {
  const limits = (name: string, limitOf: (allowance: (typeof PLAN_ALLOWANCES)[Plan]) => number) => {
    const format = (plan: Plan) => {
      if (PLAN_PRICES_USD_MONTH[plan] === null) return NEGOTIATED;
      const limit = limitOf(PLAN_ALLOWANCES[plan]);
      return limit === 0 ? "not included" : limit.toLocaleString("en-US");
    };
    return [name, ...PLANS.map(format)] as const;
  };
  return [
    ["Price per month", ...PLANS.map(formatPlanPrice)],
    limits("Requests per minute", ({ rateLimits }) => rateLimits.general),
    limits("Strategy requests per minute", ({ rateLimits }) => rateLimits.strategy),
    ...TIERS.map((tier) => limits(`${tier} calls per month`, ({ quotas }) => quotas[tier])),
  ];
}
