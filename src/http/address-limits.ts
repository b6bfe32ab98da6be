import { rateLimited } from "../domain/errors.ts";
import { addressBlock } from "../lib/address-block.ts";
import { SlidingLog } from "../lib/sliding-log.ts";
import type { Clock } from "../ports/clock.ts";

const WINDOW_MS = 60_000;
/** Requests of nobody we know, a minute and address: public routes, and all that were refused before they were known. */
const UNKNOWN_MAX = 600;
/** Answers 401, a minute and address. */
const UNAUTHORIZED_MAX = 60;

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
}

export function createAddressLimits(clock: Clock): AddressLimits {
  const unknown = new SlidingLog({ windowMs: WINDOW_MS });
  const unauthorized = new SlidingLog({ windowMs: WINDOW_MS });
  const takeUnknown = (address: string) => {
    const decision = unknown.take(addressBlock(address), UNKNOWN_MAX, clock.monotonic());
    if (!decision.isAllowed) throw exceeded(decision.waitMs);
  };
  return {
    takeUnknown,
    assertMayTry(request) {
      // The usual case on a busy service: nobody was refused lately.
      if (unauthorized.size === 0) return;
      const waitMs = unauthorized.waitMs(addressBlock(request.ip), UNAUTHORIZED_MAX, clock.monotonic());
      if (waitMs > 0) throw exceeded(waitMs);
    },
    takeUnauthorized(address) {
      takeUnknown(address);
      const decision = unauthorized.take(addressBlock(address), UNAUTHORIZED_MAX, clock.monotonic());
      if (!decision.isAllowed) throw exceeded(decision.waitMs);
    },
  };
}

/** Too many calls in a minute, of an address or of a customer. */
export const exceeded = (waitMs: number) => rateLimited("Rate limit exceeded", waitMs);
