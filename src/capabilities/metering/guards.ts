import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../domain/errors.ts";
import type { Charge, LimitDecision, QuotaRefusal } from "../../domain/metering.ts";
import { PLANS, type RateClass, type Tier } from "../../domain/plan.ts";
import type { Principal } from "../../http/auth.ts";
import type { Guards } from "../../http/request-pipeline.ts";
import type { Random } from "../../ports/random.ts";
import { type AddressLimits, addJitter, rateLimitExceeded } from "./address-limits.ts";
import type { Metering } from "./service.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The limits that this request was counted in; null if in none. */
    metered: Metered | null;
  }
}

/** Statuses that are not counted in the quota, besides 5xx (contract, section 4). */
const UNCOUNTED: ReadonlySet<number> = new Set([401, 403, 404, 422, 429]);

/** What one request was counted in: for its RateLimit headers, and to release its quota unit. */
class Metered {
  readonly #rateClass: RateClass;
  readonly #limit: number;
  readonly #minute: LimitDecision;
  #tier: Tier | null = null;
  #quota = 0;
  #decision: Charge | QuotaRefusal | null = null;

  constructor(rateClass: RateClass, limit: number, minute: LimitDecision) {
    this.#rateClass = rateClass;
    this.#limit = limit;
    this.#minute = minute;
  }

  setQuota(tier: Tier, quota: number, decision: Charge | QuotaRefusal): void {
    this.#tier = tier;
    this.#quota = quota;
    this.#decision = decision;
  }

  /** Removes this call from the month's quota. Handlers call it if they only return a reference to running work. */
  release(): void {
    if (this.#decision?.isAllowed === true) this.#decision.release();
  }

  /** RateLimit-Policy and RateLimit (IETF draft): the minute limit, and the month's quota if the route has one. */
  writeHeaders(reply: FastifyReply): void {
    const decision = this.#decision;
    let policy = `"${this.#rateClass}";q=${this.#limit};w=60`;
    let state = `"${this.#rateClass}";r=${this.#minute.remaining};t=${seconds(this.#minute.waitMs)}`;
    if (this.#tier !== null && decision !== null) {
      const name = this.#tier.toLowerCase();
      // No `w` parameter: the length of months varies.
      policy += `, "${name}";q=${this.#quota}`;
      state += `, "${name}";r=${decision.isAllowed ? decision.remaining : 0};t=${seconds(decision.resetsInMs)}`;
    }
    reply.header("ratelimit-policy", policy);
    reply.header("ratelimit", state);
  }
}

/**
 * Guards that enforce the route table's metering and the caller's plan, in this order: address limit, 401, minute limit,
 * 403, and after validation the month's quota.
 *
 * @param options.upgradeUrl  URL where the caller of a request can upgrade the plan
 */
export function createMeteringGuards(options: {
  readonly meter: Pick<Metering, "takeMinute" | "takeQuota">;
  readonly random: Random;
  readonly upgradeUrl: (request: FastifyRequest) => string;
  /** Shared with the payment gate, which checks them before it checks a payment. */
  readonly addresses: AddressLimits;
}): Guards {
  const { meter, random, upgradeUrl, addresses } = options;

  const applyMinute = (
    request: FastifyRequest,
    principal: Principal,
    rateClass: RateClass,
    decision: LimitDecision,
  ) => {
    const minute = decision.isAllowed ? decision : { ...decision, waitMs: addJitter(decision.waitMs, random) };
    request.metered = new Metered(rateClass, principal.allowance.rateLimits[rateClass], minute);
    if (!minute.isAllowed) throw rateLimitExceeded(minute.waitMs);
    assertPlan(request, principal);
  };

  const assertPlan = (request: FastifyRequest, { kind, plan, allowance }: Principal) => {
    const { metering } = request.routeConfig;
    if (metering === undefined || metering.rateClass === null || kind === "payer") return;
    const { minimumPlan, rateClass } = metering;
    const isAllowed = PLANS.indexOf(plan) >= PLANS.indexOf(minimumPlan) && allowance.rateLimits[rateClass] > 0;
    if (isAllowed) return;
    const requiredPlan = minimumPlan === "free" ? "another plan" : `the ${minimumPlan} plan`;
    throw new AppError("plan_required", `This endpoint needs ${requiredPlan}. Upgrade: ${upgradeUrl(request)}`);
  };

  const applyQuota = (request: FastifyRequest, tier: Tier, quota: number, decision: Charge | QuotaRefusal) => {
    request.metered?.setQuota(tier, quota, decision);
    if (decision.isAllowed) return;
    const { used, resetsOn, resetsInMs } = decision;
    const detail = `${tier} quota used: ${used}/${quota}. Resets ${resetsOn}. Upgrade: ${upgradeUrl(request)}`;
    const retryAfterSeconds = Math.ceil(resetsInMs / 1000);
    throw new AppError("quota_exceeded", detail, { details: { resetsOn, retryAfterSeconds } });
  };

  return {
    beforeAuthentication(request) {
      const { access, metering } = request.routeConfig;
      if (access === "public" && metering?.isProbe !== true) addresses.takeAnonymous(request.ip);
    },

    beforeLookup({ ip }) {
      addresses.assertMayLookUp(ip);
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
      const { customerId, allowance } = principal;
      // A caller without access to the class is counted in the general class and then rejected with 403.
      const counted = allowance.rateLimits[rateClass] > 0 ? rateClass : "general";
      const minute = meter.takeMinute(counted, customerId, allowance.rateLimits[counted]);
      if (minute instanceof Promise)
        return minute.then((resolved) => applyMinute(request, principal, counted, resolved));
      applyMinute(request, principal, counted, minute);
    },

    afterValidation(request) {
      const { principal, metered, routeConfig } = request;
      const tier = routeConfig.metering?.quotaTier ?? null;
      // Paid calls are not counted in a quota.
      if (tier === null || principal === null || metered === null || principal.kind === "payer") return;
      const { customerId, allowance } = principal;
      const quota = allowance.quotas[tier];
      const decision = meter.takeQuota({ customerId, tier }, quota);
      if (decision instanceof Promise) return decision.then((resolved) => applyQuota(request, tier, quota, resolved));
      applyQuota(request, tier, quota, decision);
    },

    beforeSend({ metered }, reply) {
      if (metered === null) return;
      if (reply.statusCode >= 500 || UNCOUNTED.has(reply.statusCode)) metered.release();
      metered.writeHeaders(reply);
    },
  };
}

const seconds = (milliseconds: number): number => Math.max(0, Math.ceil(milliseconds / 1000));
