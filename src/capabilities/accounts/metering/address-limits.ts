import { rateLimited } from "../../../domain/errors.ts";
import type { LimitDecision } from "../../../domain/metering.ts";
import { type RateLimitedPrefix, rateLimitedPrefixes } from "../../../lib/ip-prefix.ts";
import type { Random } from "../../../ports/random.ts";
import type { AreaPorts } from "../../area-ports.ts";
import type { Metering } from "./service.ts";
import { SlidingLog } from "./sliding-log.ts";

const WINDOW_MS = 60_000;
/** Maximum number of anonymous requests per IP address: to public routes, or rejected before authentication. */
const ANONYMOUS_REQUESTS_PER_MINUTE = 600;
/** Maximum number of 401 responses per IP address. Requests with a valid credential are not affected. */
const UNAUTHORIZED_RESPONSES_PER_MINUTE = 60;
const BLOCKED_ADDRESSES_MAX = 100_000;
/** Maximum number of rejected payments per IP address. Each costs a signature check, some a facilitator call. */
const REJECTED_PAYMENTS_PER_MINUTE = 60;

export type AddressLimits = ReturnType<typeof createAddressLimits>;

/**
 * Limits unauthenticated requests per IPv4 address, per IPv6 /64, and per IPv6 /48 (four times the limit).
 * Authenticated callers are limited by their plan instead, because many customers may share one IP address behind a
 * marketplace, a proxy or a company network.
 *
 * @param ports.meter  counts 401 responses, across all nodes if they share a limiter
 */
export function createAddressLimits({
  clock,
  random,
  meter,
}: Pick<AreaPorts, "clock" | "random"> & { readonly meter: Pick<Metering, "takeMinute"> }) {
  const createRejection = (waitMs: number) => createRateLimitError(addJitter(waitMs, random));
  const anonymousRequests = new SlidingLog({ windowMs: WINDOW_MS });
  const rejectedPayments = new SlidingLog({ windowMs: WINDOW_MS });
  /** Monotonic time until which 401 responses to an IP address are replaced without a query to the shared limiter. */
  const blockedUntil = new Map<string, number>();

  /** Counts one anonymous request. @throws AppError `rate_limited` if the IP address is over its limit */
  const takeAnonymous = (address: string): void => {
    const now = clock.monotonic();
    for (const { block, factor } of rateLimitedPrefixes(address)) {
      const decision = anonymousRequests.take(block, factor * ANONYMOUS_REQUESTS_PER_MINUTE, now);
      if (!decision.isAllowed) throw createRejection(decision.waitMs);
    }
  };
  const assertNotBlocked = (block: string) => {
    const blockedUntilMs = blockedUntil.get(block);
    if (blockedUntilMs === undefined) return;
    const waitMs = blockedUntilMs - clock.monotonic();
    if (waitMs > 0) throw createRejection(waitMs);
    blockedUntil.delete(block);
  };
  const applyUnauthorizedLimit = (block: string, { isAllowed, remaining, waitMs }: LimitDecision) => {
    if (remaining === 0) blockedUntil.set(block, clock.monotonic() + waitMs);
    if (blockedUntil.size > BLOCKED_ADDRESSES_MAX) blockedUntil.delete(blockedUntil.keys().next().value ?? "");
    if (!isAllowed) throw createRejection(waitMs);
  };
  /** Counts the address blocks, smallest first. A block is not counted if a smaller one is over its limit. */
  const takeUnauthorized = ([first, ...others]: readonly RateLimitedPrefix[]): Promise<void> | void => {
    if (first === undefined) return;
    const { block, factor } = first;
    const decision = meter.takeMinute("unauthorized", block, factor * UNAUTHORIZED_RESPONSES_PER_MINUTE);
    const apply = (resolved: LimitDecision) => {
      applyUnauthorizedLimit(block, resolved);
      return takeUnauthorized(others);
    };
    return decision instanceof Promise ? decision.then(apply) : apply(decision);
  };
  return {
    takeAnonymous,
    /** Counts one 401 response. Throws, or rejects with, `rate_limited` if the client must receive a 429 instead. */
    takeUnauthorized(address: string): Promise<void> | void {
      const blocks = rateLimitedPrefixes(address);
      for (const { block } of blocks) assertNotBlocked(block);
      takeAnonymous(address);
      return takeUnauthorized(blocks);
    },
    /**
     * Counts one anonymous request. Called before a payment is checked, because any client can send payments.
     *
     * @throws AppError `rate_limited` if the IP address is over its limit of anonymous requests or rejected payments
     */
    takePayment(address: string): void {
      for (const { block, factor } of rateLimitedPrefixes(address)) {
        const waitMs = rejectedPayments.waitMs(block, factor * REJECTED_PAYMENTS_PER_MINUTE, clock.monotonic());
        if (waitMs > 0) throw createRejection(waitMs);
      }
      takeAnonymous(address);
    },
    countRejectedPayment(address: string): void {
      for (const { block, factor } of rateLimitedPrefixes(address))
        rejectedPayments.take(block, factor * REJECTED_PAYMENTS_PER_MINUTE, clock.monotonic());
    },
  };
}

/** Maximum share by which Retry-After is increased, so that rejected clients do not retry simultaneously. */
const JITTER_SHARE_MAX = 0.1;

/** Adds a random delay; the result is at least `waitMs`. */
export const addJitter = (waitMs: number, random: Random) => waitMs * (1 + JITTER_SHARE_MAX * random.uniform());

/** Creates the error for an exceeded minute limit of an IP address or a customer. */
export const createRateLimitError = (waitMs: number) => rateLimited("Rate limit exceeded", waitMs);
