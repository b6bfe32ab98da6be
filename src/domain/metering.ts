import type { Plan, RateClass, Tier } from "./plan.ts";

/** Whether a request is allowed, and the state of its limit. */
export interface LimitDecision {
  readonly isAllowed: boolean;
  /** Requests left in the current window. */
  readonly remaining: number;
  /** Milliseconds until one more request is allowed. */
  readonly waitMs: number;
}

/** What a route requires of its caller, and how its calls are counted. */
export interface Metering {
  /** The monthly quota that a call counts towards; null for none. */
  readonly quotaTier: Tier | null;
  /** The price of a pay-per-request call (specification, first table); null if it cannot be bought. */
  readonly priceTier: Tier | null;
  /** The smallest plan that includes this route. */
  readonly minimumPlan: Plan;
  /** The minute limit that a call counts towards; null for none. */
  readonly rateClass: RateClass | null;
  /**
   * When a pay-per-request call is settled: after the work and before the response is sent (default), or before the work
   * if it takes long or streams.
   */
  readonly settles?: "after" | "before";
  /** A probe of orchestrators, exempt from address limits. */
  readonly isProbe?: true;
  /** Only for customers with an account here, not for pay-per-request or marketplace callers. */
  readonly needsAccount?: boolean;
}

/** The removal of a route (contract, section 8), announced at least six months ahead. */
export interface Deprecation {
  readonly since: Date;
  /** The route may be removed after this date. */
  readonly sunset: Date;
  /** A page that describes the replacement. */
  readonly link?: string;
}

/** One route of the API, used for enforcement, prices, the OpenAPI description and the SDK. */
export interface RouteEntry {
  readonly method: string;
  /** With parameters in braces, for example `/v1/markets/{platform}/{market_id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly metering: Metering;
  readonly deprecation: Deprecation | null;
}

const tier = (name: Tier, minimumPlan: Plan): Metering => ({
  quotaTier: name,
  priceTier: name,
  minimumPlan,
  rateClass: "general",
});
const LISTING = tier("LISTING", "free");
const STRATEGY = tier("STRATEGY", "pro");

/** Common values; a route overrides fields with `{ ...METERING.DEEP, settles: "before" }`. */
export const METERING = {
  /** Free and limited by address only; required for routes without a key. */
  FREE: { quotaTier: null, priceTier: null, minimumPlan: "free", rateClass: null },
  PROBE: { quotaTier: null, priceTier: null, minimumPlan: "free", rateClass: null, isProbe: true },
  /** Counts towards the minute limit but no quota: account routes and polling. */
  UNCOUNTED: { quotaTier: null, priceTier: null, minimumPlan: "free", rateClass: "general" },
  /** The same, only for customers with an account here. */
  ACCOUNT: { quotaTier: null, priceTier: null, minimumPlan: "free", rateClass: "general", needsAccount: true },
  LISTING,
  INSIGHT: tier("INSIGHT", "free"),
  STRATEGY,
  /** Strategy endpoints with the strategy minute limit. */
  SIGNAL: { ...STRATEGY, rateClass: "strategy" },
  DEEP: tier("DEEP", "pro"),
  /** Counts as LISTING but has the price of DEEP (the quota table of the specification decides the counting). */
  STREAM: { ...LISTING, priceTier: "DEEP", settles: "before" },
} as const satisfies Readonly<Record<string, Metering>>;

/** What minute limits count: a caller's requests by class, and 401 responses to an address. */
export type LimitClass = RateClass | "unauthorized";

/** A call that was counted in the monthly quota. */
export interface Charge {
  readonly isAllowed: true;
  /** Calls left in the month after this one. */
  readonly remaining: number;
  /** Milliseconds until the quota resets. */
  readonly resetsInMs: number;
  /** Cancels the count of this call; idempotent. */
  release(): void;
}

/** The monthly quota is used up. */
export interface QuotaRefusal {
  readonly isAllowed: false;
  /** Calls counted this month; above the limit if the limit was lowered. */
  readonly used: number;
  readonly resetsInMs: number;
  /** First day of the next month (UTC), for example "2026-12-01". */
  readonly resetsOn: string;
}
