import { rateLimited } from "../../domain/errors.ts";
import type { LimitDecision } from "../../domain/metering.ts";
import { addressBlock } from "../../lib/address-block.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";
import { SlidingLog } from "./sliding-log.ts";

const WINDOW_MS = 60_000;
/** Requests of nobody we know, a minute and address: public routes, and all that were refused before they were known. */
const UNKNOWN_MAX = 600;
/** Answers 401, a minute and address. */
const UNAUTHORIZED_MAX = 60;
const CLOSED_MAX = 100_000;
/** Payments refused, a minute and address: each has cost a signature's check, and some an exchange and a row. */
const REFUSED_PAYMENTS_MAX = 60;

/**
 * How much may come from one address (an IPv6 /64) before it is known who calls. Whoever proves who he is is limited by
 * his plan instead: behind a marketplace, a proxy or a company's one address there may be many customers.
 */
export interface AddressLimits {
  /** @throws AppError `rate_limited` where the address has no request left that needs no key; takes one */
  takeUnknown(address: string): void;
  /**
   * Takes nothing.
   *
   * @throws AppError `rate_limited` where too many answers 401 went there to look anybody up who is not known to be good
   */
  assertMayLookUp(address: string): void;
  /** Throws, or rejects with, `rate_limited` where not even the refusal may be told any more; takes one. */
  takeUnauthorized(address: string): Promise<void> | void;
  /**
   * Before anything is done for a payment: whoever sends one has proved nothing yet.
   *
   * @throws AppError `rate_limited` where the address has no such request left, or had too many payments refused; takes one
   */
  takePayment(address: string): void;
  noteRefusedPayment(address: string): void;
}

/** @param options.meter  counts the answers 401, over all nodes where they share that */
export function createAddressLimits(options: {
  readonly clock: Clock;
  readonly random: Random;
  readonly meter: {
    takeMinute(limitClass: "unauthorized", block: string, limit: number): Promise<LimitDecision> | LimitDecision;
  };
}): AddressLimits {
  const { clock, random, meter } = options;
  const refusal = (waitMs: number) => rateLimitExceeded(addJitter(waitMs, random));
  const unknown = new SlidingLog({ windowMs: WINDOW_MS });
  const refusedPayments = new SlidingLog({ windowMs: WINDOW_MS });
  /** Until when nothing more is looked up for an address; what other nodes told it is known from the last answer. */
  const closedUntil = new Map<string, number>();

  const takeUnknown = (address: string) => {
    const decision = unknown.take(addressBlock(address), UNKNOWN_MAX, clock.monotonic());
    if (!decision.isAllowed) throw refusal(decision.waitMs);
  };
  const assertOpen = (block: string) => {
    const until = closedUntil.get(block);
    if (until === undefined) return;
    const waitMs = until - clock.monotonic();
    if (waitMs > 0) throw refusal(waitMs);
    closedUntil.delete(block);
  };
  const judge = (block: string, { isAllowed, remaining, waitMs }: LimitDecision) => {
    if (remaining === 0) closedUntil.set(block, clock.monotonic() + waitMs);
    if (closedUntil.size > CLOSED_MAX) closedUntil.delete(closedUntil.keys().next().value ?? "");
    if (!isAllowed) throw refusal(waitMs);
  };
  return {
    takeUnknown,
    assertMayLookUp: (address) => assertOpen(addressBlock(address)),
    takeUnauthorized(address) {
      const block = addressBlock(address);
      assertOpen(block);
      takeUnknown(address);
      const decision = meter.takeMinute("unauthorized", block, UNAUTHORIZED_MAX);
      if (decision instanceof Promise) return decision.then((known) => judge(block, known));
      judge(block, decision);
    },
    takePayment(address) {
      const waitMs = refusedPayments.waitMs(addressBlock(address), REFUSED_PAYMENTS_MAX, clock.monotonic());
      if (waitMs > 0) throw refusal(waitMs);
      takeUnknown(address);
    },
    noteRefusedPayment(address) {
      refusedPayments.take(addressBlock(address), REFUSED_PAYMENTS_MAX, clock.monotonic());
    },
  };
}

/** Refused callers are told to wait longer by up to this share, so that they do not all come back at one instant. */
const JITTER = 0.1;

/** At least as long as given. */
export const addJitter = (waitMs: number, random: Random) => waitMs * (1 + JITTER * random.uniform());

/** Too many calls in a minute, of an address or of a customer. */
export const rateLimitExceeded = (waitMs: number) => rateLimited("Rate limit exceeded", waitMs);
