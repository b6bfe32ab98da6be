import { rateLimited } from "../../domain/errors.ts";
import type { LimitDecision } from "../../domain/metering.ts";
import { addressBlock } from "../../lib/address-block.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";
import { SlidingLog } from "./sliding-log.ts";

const WINDOW_MS = 60_000;
/** Anonymous requests per minute and address: public routes, and requests rejected before authentication. */
const ANONYMOUS_MAX = 600;
/** 401 responses per minute and address. */
const UNAUTHORIZED_MAX = 60;
const BLOCKED_MAX = 100_000;
/** Rejected payments per minute and address. Each costs a signature check, and some a facilitator call and a row. */
const REJECTED_PAYMENTS_MAX = 60;

export type AddressLimits = ReturnType<typeof createAddressLimits>;

/**
 * Limits per IP address (an IPv6 /64) for requests without a known caller. Authenticated callers are limited by their plan
 * instead: many customers may share one address behind a marketplace, a proxy or a company network.
 *
 * @param options.meter  counts 401 responses, across all nodes if they share their limits
 */
export function createAddressLimits(options: {
  readonly clock: Clock;
  readonly random: Random;
  readonly meter: {
    takeMinute(limitClass: "unauthorized", block: string, limit: number): Promise<LimitDecision> | LimitDecision;
  };
}) {
  const { clock, random, meter } = options;
  const rejection = (waitMs: number) => rateLimitExceeded(addJitter(waitMs, random));
  const anonymous = new SlidingLog({ windowMs: WINDOW_MS });
  const rejectedPayments = new SlidingLog({ windowMs: WINDOW_MS });
  /** Monotonic time until which an address gets no key look-ups; saves the query to the shared limits. */
  const blockedUntil = new Map<string, number>();

  /** @throws AppError `rate_limited` if the address has used up its anonymous requests; counts one */
  const takeAnonymous = (address: string): void => {
    const decision = anonymous.take(addressBlock(address), ANONYMOUS_MAX, clock.monotonic());
    if (!decision.isAllowed) throw rejection(decision.waitMs);
  };
  const assertNotBlocked = (block: string) => {
    const until = blockedUntil.get(block);
    if (until === undefined) return;
    const waitMs = until - clock.monotonic();
    if (waitMs > 0) throw rejection(waitMs);
    blockedUntil.delete(block);
  };
  const apply = (block: string, { isAllowed, remaining, waitMs }: LimitDecision) => {
    if (remaining === 0) blockedUntil.set(block, clock.monotonic() + waitMs);
    if (blockedUntil.size > BLOCKED_MAX) blockedUntil.delete(blockedUntil.keys().next().value ?? "");
    if (!isAllowed) throw rejection(waitMs);
  };
  return {
    takeAnonymous,
    /** Counts nothing. @throws AppError `rate_limited` after too many 401 responses, to prevent further key look-ups */
    assertMayLookUp: (address: string) => assertNotBlocked(addressBlock(address)),
    /** Counts one 401 response. Throws, or rejects with, `rate_limited` if the client must receive a 429 instead. */
    takeUnauthorized(address: string): Promise<void> | void {
      const block = addressBlock(address);
      assertNotBlocked(block);
      takeAnonymous(address);
      const decision = meter.takeMinute("unauthorized", block, UNAUTHORIZED_MAX);
      if (decision instanceof Promise) return decision.then((resolved) => apply(block, resolved));
      apply(block, decision);
    },
    /**
     * Called before a payment is checked, because anyone can send one.
     *
     * @throws AppError `rate_limited` if the address has no anonymous request left or too many rejected payments; counts one
     */
    takePayment(address: string): void {
      const waitMs = rejectedPayments.waitMs(addressBlock(address), REJECTED_PAYMENTS_MAX, clock.monotonic());
      if (waitMs > 0) throw rejection(waitMs);
      takeAnonymous(address);
    },
    countRejectedPayment(address: string): void {
      rejectedPayments.take(addressBlock(address), REJECTED_PAYMENTS_MAX, clock.monotonic());
    },
  };
}

/** Retry-After grows by up to this share, so that rejected clients do not all retry simultaneously. */
const JITTER = 0.1;

/** Returns at least `waitMs`. */
export const addJitter = (waitMs: number, random: Random) => waitMs * (1 + JITTER * random.uniform());

/** The minute limit of an address or a customer is used up. */
export const rateLimitExceeded = (waitMs: number) => rateLimited("Rate limit exceeded", waitMs);
