import type { Plan, RateClass, Tier } from "./plan.ts";

/** Account reads have a separate limit, so that a caller that exceeds its other limits can read when they reset. */
export type RouteRateClass = RateClass | "account";
/** Maximum account reads per caller and minute, on every plan. */
export const ACCOUNT_READS_PER_MINUTE = 60;

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
  /** The tier whose price a pay-per-request call costs; null if the route cannot be bought per request. */
  readonly priceTier: Tier | null;
  /** The smallest plan that includes this route. */
  readonly minimumPlan: Plan;
  /** The limit per minute that a call counts towards; null for none. */
  readonly rateClass: RouteRateClass | null;
  /**
   * When the payment of a pay-per-request call is settled: after the handler and before the response is sent (default),
   * or before the handler if it is slow or streams.
   */
  readonly settles?: "after" | "before";
  /** True for orchestrators' probes, which are exempt from the limits per IP address. */
  readonly isProbe?: true;
  /** True if the caller must have an account here; pay-per-request and marketplace callers are rejected. */
  readonly needsAccount?: boolean;
}

/** The announced removal of a route, at least six months in advance. */
export interface Deprecation {
  readonly since: Date;
  /** The route may be removed after this date. */
  readonly sunset: Date;
  /** URL of a page that describes the replacement. */
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

const createTierMetering = (name: Tier, minimumPlan: Plan): Metering => ({
  quotaTier: name,
  priceTier: name,
  minimumPlan,
  rateClass: "general",
});
const LISTING = createTierMetering("LISTING", "free");
const STRATEGY = createTierMetering("STRATEGY", "pro");

/** Metering of the common kinds of routes. A route can override fields: `{ ...METERING.DEEP, settles: "before" }`. */
export const METERING = {
  /** Free and limited only per IP address. Routes that need no key must use it. */
  FREE: { quotaTier: null, priceTier: null, minimumPlan: "free", rateClass: null },
  PROBE: { quotaTier: null, priceTier: null, minimumPlan: "free", rateClass: null, isProbe: true },
  /** Counts towards the limit per minute but no quota: account routes and polling. */
  UNCOUNTED: { quotaTier: null, priceTier: null, minimumPlan: "free", rateClass: "general" },
  /** Same as `UNCOUNTED`, but only for customers with an account here. */
  ACCOUNT: { quotaTier: null, priceTier: null, minimumPlan: "free", rateClass: "general", needsAccount: true },
  /** Same as `ACCOUNT`, with the limit for account reads. */
  ACCOUNT_READ: { quotaTier: null, priceTier: null, minimumPlan: "free", rateClass: "account", needsAccount: true },
  LISTING,
  INSIGHT: createTierMetering("INSIGHT", "free"),
  STRATEGY,
  /** Same as `STRATEGY`, with the strategy limit per minute. */
  SIGNAL: { ...STRATEGY, rateClass: "strategy" },
  DEEP: createTierMetering("DEEP", "pro"),
  /** Counts towards the `LISTING` quota but has the price of `DEEP`. */
  STREAM: { ...LISTING, priceTier: "DEEP", settles: "before" },
} as const satisfies Readonly<Record<string, Metering>>;

/** Subject of a limit per minute: a caller's requests of one class, or the 401 responses to an IP address. */
export type RateLimitClass = RouteRateClass | "unauthorized";

/** A call that was counted in the monthly quota. */
export interface Charge {
  readonly isAllowed: true;
  /** Calls left in the month after this one. */
  readonly remaining: number;
  /** Milliseconds until the quota resets. */
  readonly resetsInMs: number;
  /** First day of the month in whose quota the call was counted, for example "2026-11-01". */
  readonly month: string;
  /** Uncounts this call; idempotent. */
  release(): void;
}

/** The monthly quota is used up. */
export interface QuotaRejection {
  readonly isAllowed: false;
  /** Calls counted this month; can exceed the limit after the limit was lowered. */
  readonly used: number;
  readonly resetsInMs: number;
  /** First day of the next month (UTC), for example "2026-12-01". */
  readonly resetsOn: string;
}
