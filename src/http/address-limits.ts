import { AppError } from "../domain/errors.ts";
import { addressBlock } from "../lib/address-block.ts";
import { SlidingLog } from "../lib/sliding-log.ts";
import type { Clock } from "../ports/clock.ts";

const WINDOW_MS = 60_000;
/** Requests of nobody we know, a minute and address: public routes, and all that were refused before they were known. */
const UNKNOWN_MAX = 600;
/** Answers 401, a minute and address. */
const UNAUTHORIZED_MAX = 60;
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
   * @param request  asked for its address only where it matters
   * @throws AppError `rate_limited` where a request that needs a key is not even looked at
   */
  assertMayTry(request: { readonly ip: string }): void;
  /** @throws AppError `rate_limited` where not even the refusal may be told any more; takes one */
  takeUnauthorized(address: string): void;
  /**
   * Before anything is done for a payment: whoever sends one has proved nothing yet.
   *
   * @throws AppError `rate_limited` where the address has no such request left, or had too many payments refused; takes one
   */
  takePayment(address: string): void;
  noteRefusedPayment(address: string): void;
}

export function createAddressLimits(clock: Clock): AddressLimits {
  const unknown = new SlidingLog({ windowMs: WINDOW_MS });
  const unauthorized = new SlidingLog({ windowMs: WINDOW_MS });
  const refusedPayments = new SlidingLog({ windowMs: WINDOW_MS });
  const takeUnknown = (address: string) => {
    const decision = unknown.take(addressBlock(address), UNKNOWN_MAX, clock.monotonic());
    if (!decision.isAllowed) throw limited(decision.waitMs);
  };
  return {
    takeUnknown,
    assertMayTry(request) {
      // The usual case on a busy service: nobody was refused lately.
      if (unauthorized.size === 0) return;
      const waitMs = unauthorized.waitMs(addressBlock(request.ip), UNAUTHORIZED_MAX, clock.monotonic());
      if (waitMs > 0) throw limited(waitMs);
    },
    takeUnauthorized(address) {
      takeUnknown(address);
      const decision = unauthorized.take(addressBlock(address), UNAUTHORIZED_MAX, clock.monotonic());
      if (!decision.isAllowed) throw limited(decision.waitMs);
    },
    takePayment(address) {
      const waitMs = refusedPayments.waitMs(addressBlock(address), REFUSED_PAYMENTS_MAX, clock.monotonic());
      if (waitMs > 0) throw limited(waitMs);
      takeUnknown(address);
    },
    noteRefusedPayment(address) {
      refusedPayments.take(addressBlock(address), REFUSED_PAYMENTS_MAX, clock.monotonic());
    },
  };
}

/** A 429 whose wait is true: rounded up to whole seconds. */
export function limited(waitMs: number): AppError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  const plural = retryAfterSeconds === 1 ? "" : "s";
  return new AppError("rate_limited", `Rate limit exceeded. Retry after ${retryAfterSeconds} second${plural}.`, {
    details: { retryAfterSeconds },
  });
}
