import type { Plan, RateClass, Tier } from "./plan.ts";

/** Whether a request may go on, and what the caller may be told of its limit. */
export interface LimitDecision {
  readonly isAllowed: boolean;
  /** Requests left in the window that ends now. */
  readonly remaining: number;
  /** Milliseconds until one more is allowed than now. */
  readonly waitMs: number;
}

/** What a route asks of its caller, and what it counts as. */
export interface Metering {
  /** The month's quota that a call is counted in; null counts in none. */
  readonly quotaTier: Tier | null;
  /** What a call costs where it is paid for one by one (specification, first table); null cannot be bought so. */
  readonly priceTier: Tier | null;
  /** The smallest plan that may call. */
  readonly minimumPlan: Plan;
  /** The caller's minute limit that a call is counted in; null counts in none. */
  readonly rateClass: RateClass | null;
  /**
   * When a call that is paid for one by one is settled: after the work, before its answer goes out (the default), or
   * before work that is long or streams.
   */
  readonly settles?: "after" | "before";
  /** Asked by orchestrators all the time, so that not even its address is limited. */
  readonly isProbe?: true;
  /** Only for customers with an account of ours: neither a payer nor a marketplace's user can call it. */
  readonly needsAccount?: boolean;
}

/** What becomes of a route that will go (contract, section 8): announced at least six months ahead. */
export interface Deprecation {
  readonly since: Date;
  /** From when on it may be gone. */
  readonly sunset: Date;
  /** Where it is told what to use instead. */
  readonly link?: string;
}

/** One route of the interface, as enforcement, prices, the description and the SDK read it. */
export interface RouteEntry {
  readonly method: string;
  /** With parameters in braces, for example `/v1/markets/{platform}/{market_id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly metering: Metering;
  readonly deprecation: Deprecation | null;
}

const tier = (name: Tier, minimumPlan: Plan): Metering => ({
  ...{ quotaTier: name, priceTier: name, minimumPlan },
  rateClass: "general",
});
const LISTING = tier("LISTING", "free");
const STRATEGY = tier("STRATEGY", "pro");

/** The entries that routes usually have; what differs is written `{ ...METERING.DEEP, settles: "before" }`. */
export const METERING = {
  /** Costs nothing and is limited by address alone; the only one for routes without a key. */
  FREE: { quotaTier: null, priceTier: null, minimumPlan: "free", rateClass: null },
  PROBE: { quotaTier: null, priceTier: null, minimumPlan: "free", rateClass: null, isProbe: true },
  /** Counts in no quota, but in the caller's minute limit: one's own account, polls. */
  UNCOUNTED: { quotaTier: null, priceTier: null, minimumPlan: "free", rateClass: "general" },
  /** The same, for customers with an account of ours only. */
  ACCOUNT: { quotaTier: null, priceTier: null, minimumPlan: "free", rateClass: "general", needsAccount: true },
  LISTING,
  INSIGHT: tier("INSIGHT", "free"),
  STRATEGY,
  /** The strategy endpoints proper, which have a minute limit of their own. */
  SIGNAL: { ...STRATEGY, rateClass: "strategy" },
  DEEP: tier("DEEP", "pro"),
  /** Counts as a listing, costs what the deep tier costs (specification: the quota table governs counting). */
  STREAM: { ...LISTING, priceTier: "DEEP", settles: "before" },
} as const satisfies Readonly<Record<string, Metering>>;

/** What minute limits are kept of: callers' requests by class, and answers 401 to an address. */
export type LimitClass = RateClass | "unauthorized";

/** One call that was counted in the month's quota. */
export interface Charge {
  readonly isAllowed: true;
  /** Calls left in the month after this one. */
  readonly remaining: number;
  /** Milliseconds until the quota starts anew. */
  readonly resetsInMs: number;
  /** The call is not to be counted after all; more than once is as good as once. */
  release(): void;
}

/** Nothing of the month's quota is left. */
export interface QuotaRefusal {
  readonly isAllowed: false;
  /** Calls counted this month; above the limit where that was lowered since. */
  readonly used: number;
  readonly resetsInMs: number;
  /** First day of the next month (UTC), for example "2026-12-01". */
  readonly resetsOn: string;
}
