import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../../domain/errors.ts";
import {
  ACCOUNT_READS_PER_MINUTE,
  type Charge,
  type LimitDecision,
  type QuotaRejection,
  type RouteRateClass,
} from "../../../domain/metering.ts";
import { PLANS, type Tier } from "../../../domain/plan.ts";
import type { Principal } from "../../../http/auth.ts";
import type { Guards } from "../../../http/request-pipeline.ts";
import type { Random } from "../../../ports/random.ts";
import { type AddressLimits, addJitter, createRateLimitError } from "./address-limits.ts";
import type { Metering } from "./service.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The limits that count this request; null if no limit counts it. */
    metered: Metered | null;
  }
}

/** Statuses of responses that do not count towards the quota, in addition to 5xx. */
const UNCOUNTED_STATUSES: ReadonlySet<number> = new Set([401, 403, 404, 422, 429]);

/** Names of the minute limits in the RateLimit fields. They differ from the names of the quotas, which are the tiers. */
const MINUTE_LIMIT_NAMES: Readonly<Record<RouteRateClass, string>> = {
  general: "general",
  strategy: "strategy-minute",
  account: "account",
};

/** Format of `Retry-After` if a monthly quota is used up: the date of its reset, or the seconds until then. */
export type QuotaRetryAfter = "date" | "seconds";

/** An ambiguous query is rejected before any work is done, like a query that matches no market. */
const isUncounted = ({ statusCode, problemCode }: FastifyReply): boolean =>
  UNCOUNTED_STATUSES.has(statusCode) || problemCode === "ambiguous_query";

/** The state of the general limit, for responses that do not count towards it. */
interface GeneralState extends LimitDecision {
  readonly limit: number;
}

/** The limits that count one request. Writes its RateLimit headers and releases its quota unit. */
class Metered {
  readonly #rateClass: RouteRateClass;
  readonly #limit: number;
  readonly #minuteDecision: LimitDecision;
  readonly #general: GeneralState | null;
  #tier: Tier | null = null;
  #quota = 0;
  #decision: Charge | QuotaRejection | null = null;
  #isReleased = false;

  constructor(
    rateClass: RouteRateClass,
    limit: number,
    minuteDecision: LimitDecision,
    general: GeneralState | null = null,
  ) {
    this.#rateClass = rateClass;
    this.#limit = limit;
    this.#minuteDecision = minuteDecision;
    this.#general = general;
  }

  setQuota(tier: Tier, quota: number, decision: Charge | QuotaRejection): void {
    this.#tier = tier;
    this.#quota = quota;
    this.#decision = decision;
  }

  /** Removes this call from the month's quota. */
  release(): void {
    if (this.#decision?.isAllowed === true) this.#decision.release();
    this.#isReleased = true;
  }

  /** The tier and the month whose quota counts this call; null if no quota counts it. Final once the response is sent. */
  get counted(): { readonly tier: Tier; readonly month: string } | null {
    if (this.#tier === null || this.#decision?.isAllowed !== true || this.#isReleased) return null;
    return { tier: this.#tier, month: this.#decision.month };
  }

  /** RateLimit-Policy and RateLimit (IETF draft): the minute limit, and the month's quota if the route has one. */
  writeHeaders(reply: FastifyReply): void {
    const decision = this.#decision;
    const minuteName = MINUTE_LIMIT_NAMES[this.#rateClass];
    let policy = `"${minuteName}";q=${this.#limit};w=60`;
    let state = `"${minuteName}";r=${this.#minuteDecision.remaining};t=${toSeconds(this.#minuteDecision.waitMs)}`;
    if (this.#general !== null) {
      policy += `, "general";q=${this.#general.limit};w=60`;
      state += `, "general";r=${this.#general.remaining};t=${toSeconds(this.#general.waitMs)}`;
    }
    if (this.#tier !== null && decision !== null) {
      const name = this.#tier.toLowerCase();
      // No `w` parameter: the length of months varies.
      policy += `, "${name}";q=${this.#quota}`;
      state += `, "${name}";r=${decision.isAllowed ? decision.remaining : 0};t=${toSeconds(decision.resetsInMs)}`;
    }
    reply.header("ratelimit-policy", policy);
    reply.header("ratelimit", state);
  }
}

/**
 * Guards that enforce the route table's metering and the caller's plan, in this order: address limit, 401, minute
 * limit, 403, and after validation the month's quota.
 *
 * @param options.upgradeUrl  URL where the caller of a request can upgrade the plan
 */
export function createMeteringGuards(options: {
  readonly meter: Pick<Metering, "takeMinute" | "peekMinute" | "takeQuota">;
  readonly random: Random;
  readonly upgradeUrl: (request: FastifyRequest) => string;
  /** The same instance as in the payment gate, which checks these limits before a payment. */
  readonly addresses: AddressLimits;
  /** The date by default. */
  readonly quotaRetryAfter?: QuotaRetryAfter;
  /** Whether calls count towards the month's quota; false on a read-only store. */
  readonly countsQuota?: boolean;
}): Guards {
  const { meter, random, upgradeUrl, addresses, quotaRetryAfter = "date", countsQuota = true } = options;

  const applyMinuteLimit = (
    request: FastifyRequest,
    principal: Principal,
    rateClass: RouteRateClass,
    decision: LimitDecision,
    general: GeneralState | null = null,
  ) => {
    const minuteDecision = decision.isAllowed ? decision : { ...decision, waitMs: addJitter(decision.waitMs, random) };
    request.metered = new Metered(rateClass, limitOf(principal, rateClass), minuteDecision, general);
    if (!minuteDecision.isAllowed) throw createRateLimitError(minuteDecision.waitMs);
    assertPlan(request, principal);
  };

  const takeAccountRead = async (request: FastifyRequest, principal: Principal) => {
    const { customerId } = principal;
    const limit = limitOf(principal, "general");
    const [decision, general] = await Promise.all([
      meter.takeMinute("account", customerId, ACCOUNT_READS_PER_MINUTE),
      meter.peekMinute("general", customerId, limit),
    ]);
    applyMinuteLimit(request, principal, "account", decision, { ...general, limit });
  };

  const assertPlan = (request: FastifyRequest, principal: Principal) => {
    const { kind, plan } = principal;
    const { metering } = request.routeConfig;
    if (metering === undefined || metering.rateClass === null || kind === "payer") return;
    const { minimumPlan, rateClass } = metering;
    const isAllowed = PLANS.indexOf(plan) >= PLANS.indexOf(minimumPlan) && limitOf(principal, rateClass) > 0;
    if (isAllowed) return;
    const requiredPlan = minimumPlan === "free" ? "another plan" : `the ${minimumPlan} plan`;
    throw new AppError("plan_required", `This endpoint needs ${requiredPlan}. Upgrade: ${upgradeUrl(request)}`);
  };

  const applyQuota = (request: FastifyRequest, tier: Tier, quota: number, decision: Charge | QuotaRejection) => {
    request.metered?.setQuota(tier, quota, decision);
    if (decision.isAllowed) return;
    const { used, resetsOn, resetsInMs } = decision;
    const detail = `${tier} quota used: ${used}/${quota}. Resets ${resetsOn}. Upgrade: ${upgradeUrl(request)}`;
    const retryAfterSeconds = Math.ceil(resetsInMs / 1000);
    const retryAfter = quotaRetryAfter === "seconds" ? String(retryAfterSeconds) : resetsOn;
    throw new AppError("quota_exceeded", detail, { details: { resetsOn, retryAfterSeconds, retryAfter } });
  };

  return {
    beforeAuthentication(request) {
      const { access, metering } = request.routeConfig;
      // A session look-up queries the store, so requests with a session also count as anonymous requests.
      if (access !== "key" && metering?.isProbe !== true) addresses.takeAnonymous(request.ip);
    },

    onUnauthenticated({ ip }, error) {
      const code = error instanceof AppError ? error.code : null;
      if (code === "unauthorized") return addresses.takeUnauthorized(ip);
      if (code !== "rate_limited") addresses.takeAnonymous(ip);
    },

    afterAuthentication(request) {
      const { principal, routeConfig } = request;
      const rateClass = routeConfig.metering?.rateClass ?? null;
      if (principal === null || rateClass === null) return;
      if (rateClass === "account") return takeAccountRead(request, principal);
      const { customerId, allowance } = principal;
      // A caller without access to the rate class is counted in the general class and rejected with 403.
      const countedClass = allowance.rateLimits[rateClass] > 0 ? rateClass : "general";
      const minuteDecision = meter.takeMinute(countedClass, customerId, allowance.rateLimits[countedClass]);
      if (minuteDecision instanceof Promise)
        return minuteDecision.then((resolved) => applyMinuteLimit(request, principal, countedClass, resolved));
      applyMinuteLimit(request, principal, countedClass, minuteDecision);
    },

    afterValidation(request) {
      const { principal, metered, routeConfig } = request;
      const tier = routeConfig.metering?.quotaTier ?? null;
      // Paid calls are not counted in a quota.
      if (!countsQuota || tier === null || principal === null || metered === null || principal.kind === "payer") return;
      const { customerId, allowance } = principal;
      const quota = allowance.quotas[tier];
      const decision = meter.takeQuota({ customerId, tier }, quota);
      if (decision instanceof Promise) return decision.then((resolved) => applyQuota(request, tier, quota, resolved));
      applyQuota(request, tier, quota, decision);
    },

    beforeSend({ metered, isDeferred }, reply) {
      if (metered === null) return;
      if (isDeferred || reply.statusCode >= 500 || isUncounted(reply)) metered.release();
      metered.writeHeaders(reply);
    },
  };
}

const limitOf = ({ allowance }: Principal, rateClass: RouteRateClass): number =>
  rateClass === "account" ? ACCOUNT_READS_PER_MINUTE : allowance.rateLimits[rateClass];

const toSeconds = (milliseconds: number): number => Math.max(0, Math.ceil(milliseconds / 1000));
