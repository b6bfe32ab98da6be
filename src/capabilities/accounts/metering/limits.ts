import type { LimitDecision, RateLimitClass } from "../../../domain/metering.ts";
import type { SharedLimitLog } from "../../../ports/limit-log.ts";
import type { AreaPorts } from "../../area-ports.ts";
import { SlidingLog } from "./sliding-log.ts";

/** Length of the sliding window of minute limits. */
export const LIMIT_WINDOW_MS = 60_000;
/** Time for which the shared limiter is skipped after a failure, so that requests do not wait for its timeout. */
const SHARED_RETRY_DELAY_MS = 1_000;

export type RequestLimits = ReturnType<typeof createRequestLimits>;

/**
 * Minute limits of callers. A request must pass this node's limiter and, if configured, the limiter shared by all
 * nodes. The limit therefore holds across nodes, and on each single node while the shared limiter is unavailable.
 */
export function createRequestLimits(
  { clock, log }: Pick<AreaPorts, "clock" | "log">,
  /** Null if the service runs on a single node. */
  shared: SharedLimitLog | null,
) {
  const localCounters: Readonly<Record<RateLimitClass, SlidingLog>> = {
    general: new SlidingLog({ windowMs: LIMIT_WINDOW_MS }),
    strategy: new SlidingLog({ windowMs: LIMIT_WINDOW_MS }),
    account: new SlidingLog({ windowMs: LIMIT_WINDOW_MS }),
    unauthorized: new SlidingLog({ windowMs: LIMIT_WINDOW_MS }),
  };
  let retrySharedAt = 0;
  let isSharedUnavailable = false;

  const setSharedError = (error: unknown) => {
    if (error !== null) retrySharedAt = clock.monotonic() + SHARED_RETRY_DELAY_MS;
    if (isSharedUnavailable === (error !== null)) return;
    isSharedUnavailable = error !== null;
    if (isSharedUnavailable)
      log.warn({ err: error }, "shared rate limits unavailable; this node applies its own limits");
    else log.info({}, "shared rate limits available again");
  };

  return {
    /** Counts one request of the caller in this class. A rejected request is not counted. Never throws or rejects. */
    take(limitClass: RateLimitClass, caller: string, limit: number): Promise<LimitDecision> | LimitDecision {
      const now = clock.monotonic();
      const decision = localCounters[limitClass].take(caller, limit, now);
      // The shared limiter has counted at least as many requests as this node, so a local rejection is final.
      if (shared === null || !decision.isAllowed || now < retrySharedAt) return decision;
      return shared.take(`${limitClass}:${caller}`, limit).then(
        (sharedDecision) => {
          setSharedError(null);
          if (!sharedDecision.isAllowed) localCounters[limitClass].removeNewest(caller);
          return sharedDecision;
        },
        (error: unknown) => {
          setSharedError(error);
          return decision;
        },
      );
    },
    /** Returns whether `take` would allow a request, and the remaining requests before it. Never throws or rejects. */
    peek(limitClass: RateLimitClass, caller: string, limit: number): Promise<LimitDecision> | LimitDecision {
      const now = clock.monotonic();
      const decision = localCounters[limitClass].peek(caller, limit, now);
      if (shared === null || !decision.isAllowed || now < retrySharedAt) return decision;
      return shared.peek(`${limitClass}:${caller}`, limit).catch((error: unknown) => {
        setSharedError(error);
        return decision;
      });
    },
  };
}
