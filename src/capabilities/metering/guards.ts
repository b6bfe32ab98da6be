import type { FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../../domain/errors.ts";
import type { Charge, LimitClass, LimitDecision, QuotaRefusal } from "../../domain/metering.ts";
import { PLANS, type RateClass, type Tier } from "../../domain/plan.ts";
import type { Principal } from "../../http/auth.ts";
import type { Guards } from "../../http/server.ts";
import type { Random } from "../../ports/random.ts";
import { type AddressLimits, addJitter, rateLimitExceeded } from "./address-limits.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** What this request took of the caller's limits; null where it took nothing. */
    metered: Metered | null;
  }
}

/** Who counts; without a promise where the answer is known at once, because every request waits here. */
export interface RequestMeter {
  /** Takes one request of the minute, or one answer 401 of an address; a refused one is not counted. */
  takeMinute(limitClass: LimitClass, caller: string, limit: number): Promise<LimitDecision> | LimitDecision;
  /** Takes one call of the month. Throws, or rejects with, `store_unavailable` where it cannot be counted. */
  takeQuota(
    account: { readonly customerId: string; readonly tier: Tier },
    limit: number,
  ): Promise<Charge | QuotaRefusal> | Charge | QuotaRefusal;
}

/** Answers that are never counted, beside those of 500 and above (contract, section 4). */
const UNCOUNTED: ReadonlySet<number> = new Set([401, 403, 404, 422, 429]);

/** What one request took, for its headers and for giving it back. */
class Metered {
  readonly #rateClass: RateClass;
  readonly #limit: number;
  readonly #minute: LimitDecision;
  #tier: Tier | null = null;
  #quota = 0;
  #answer: Charge | QuotaRefusal | null = null;

  constructor(rateClass: RateClass, limit: number, minute: LimitDecision) {
    this.#rateClass = rateClass;
    this.#limit = limit;
    this.#minute = minute;
  }

  count(tier: Tier, quota: number, answer: Charge | QuotaRefusal): void {
    this.#tier = tier;
    this.#quota = quota;
    this.#answer = answer;
  }

  /** This call is not to be counted in the month after all: for a handler that only says where its work goes on. */
  release(): void {
    if (this.#answer?.isAllowed === true) this.#answer.release();
  }

  /** RateLimit-Policy and RateLimit (IETF draft): the minute limit, and the month's quota where one was asked. */
  writeHeaders(reply: FastifyReply): void {
    const answer = this.#answer;
    let policy = `"${this.#rateClass}";q=${this.#limit};w=60`;
    let state = `"${this.#rateClass}";r=${this.#minute.remaining};t=${seconds(this.#minute.waitMs)}`;
    if (this.#tier !== null && answer !== null) {
      const name = this.#tier.toLowerCase();
      // No window: months differ in length.
      policy += `, "${name}";q=${this.#quota}`;
      state += `, "${name}";r=${answer.isAllowed ? answer.remaining : 0};t=${seconds(answer.resetsInMs)}`;
    }
    reply.header("ratelimit-policy", policy);
    reply.header("ratelimit", state);
  }
}

/**
 * The guards that hold each caller to what the route table asks and the plan allows, in the order of judgement: the
 * address, 401, minute limit, 403, and after validation the month's quota.
 *
 * @param options.upgradeUrl  where the caller of a request gets a larger plan
 */
export function createMeteringGuards(options: {
  readonly meter: RequestMeter;
  readonly random: Random;
  readonly upgradeUrl: (request: FastifyRequest) => string;
  /** Shared with the till, which looks at them before it looks at a payment. */
  readonly addresses: AddressLimits;
}): Guards {
  const { meter, random, upgradeUrl, addresses } = options;

  const judgeMinute = (request: FastifyRequest, principal: Principal, rateClass: RateClass, told: LimitDecision) => {
    const minute = told.isAllowed ? told : { ...told, waitMs: addJitter(told.waitMs, random) };
    request.metered = new Metered(rateClass, principal.allowance.rateLimits[rateClass], minute);
    if (!minute.isAllowed) throw rateLimitExceeded(minute.waitMs);
    assertPlan(request, principal);
  };

  const assertPlan = (request: FastifyRequest, { kind, plan, allowance }: Principal) => {
    const { metering } = request.routeConfig;
    if (metering === undefined || metering.rateClass === null || kind === "payer") return;
    const { minimumPlan, rateClass } = metering;
    const isEnough = PLANS.indexOf(plan) >= PLANS.indexOf(minimumPlan) && allowance.rateLimits[rateClass] > 0;
    if (isEnough) return;
    const needed = minimumPlan === "free" ? "another plan" : `the ${minimumPlan} plan`;
    throw new AppError("plan_required", `This endpoint needs ${needed}. Upgrade: ${upgradeUrl(request)}`);
  };

  const judgeQuota = (request: FastifyRequest, tier: Tier, quota: number, answer: Charge | QuotaRefusal) => {
    request.metered?.count(tier, quota, answer);
    if (answer.isAllowed) return;
    const { used, resetsOn, resetsInMs } = answer;
    const detail = `${tier} quota used: ${used}/${quota}. Resets ${resetsOn}. Upgrade: ${upgradeUrl(request)}`;
    const retryAfterSeconds = Math.ceil(resetsInMs / 1000);
    throw new AppError("quota_exceeded", detail, { details: { resetsOn, retryAfterSeconds } });
  };

  return {
    beforeAuthentication(request) {
      const { access, metering } = request.routeConfig;
      if (access === "public" && metering?.isProbe !== true) addresses.takeUnknown(request.ip);
    },

    beforeLookUp({ ip }) {
      addresses.assertMayLookUp(ip);
    },

    refused({ ip }, error) {
      const code = error instanceof AppError ? error.code : null;
      if (code === "unauthorized") return addresses.takeUnauthorized(ip);
      if (code !== "rate_limited") addresses.takeUnknown(ip);
    },

    afterAuthentication(request) {
      const { principal, routeConfig } = request;
      const rateClass = routeConfig.metering?.rateClass ?? null;
      if (principal === null || rateClass === null) return;
      const { customerId, allowance } = principal;
      // Whoever has no access to a class is limited as everyone is, and then told so.
      const counted = allowance.rateLimits[rateClass] > 0 ? rateClass : "general";
      const minute = meter.takeMinute(counted, customerId, allowance.rateLimits[counted]);
      if (minute instanceof Promise) return minute.then((known) => judgeMinute(request, principal, counted, known));
      judgeMinute(request, principal, counted, minute);
    },

    afterValidation(request) {
      const { principal, metered, routeConfig } = request;
      const tier = routeConfig.metering?.quotaTier ?? null;
      // A payer has paid for this call: no month counts it.
      if (tier === null || principal === null || metered === null || principal.kind === "payer") return;
      const { customerId, allowance } = principal;
      const quota = allowance.quotas[tier];
      const answer = meter.takeQuota({ customerId, tier }, quota);
      if (answer instanceof Promise) return answer.then((known) => judgeQuota(request, tier, quota, known));
      judgeQuota(request, tier, quota, answer);
    },

    beforeSend({ metered }, reply) {
      if (metered === null) return;
      if (reply.statusCode >= 500 || UNCOUNTED.has(reply.statusCode)) metered.release();
      metered.writeHeaders(reply);
    },
  };
}

const seconds = (milliseconds: number): number => Math.max(0, Math.ceil(milliseconds / 1000));
