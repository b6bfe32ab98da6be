import type { LimitClass, LimitDecision } from "../../domain/metering.ts";
import type { Clock } from "../../ports/clock.ts";
import type { SharedLimitLog } from "../../ports/limit-log.ts";
import type { Log } from "../../ports/log.ts";
import { SlidingLog } from "./sliding-log.ts";

/** Minute limits apply to any 60 seconds. */
export const LIMIT_WINDOW_MS = 60_000;
/** After a failure the shared log is skipped for this long, so that requests do not wait for its timeout. */
const RETRY_SHARED_MS = 1_000;

export type RequestLimits = ReturnType<typeof createRequestLimits>;

/**
 * Minute limits of callers. A request must pass this node's own log and, if configured, the log shared by all nodes. The
 * limit therefore holds across nodes, and on each single node while the shared log is unavailable.
 */
export function createRequestLimits(options: {
  readonly clock: Clock;
  readonly log: Log;
  /** Null for a single node. */
  readonly shared: SharedLimitLog | null;
}) {
  const { clock, log, shared } = options;
  const local: Readonly<Record<LimitClass, SlidingLog>> = {
    general: new SlidingLog({ windowMs: LIMIT_WINDOW_MS }),
    strategy: new SlidingLog({ windowMs: LIMIT_WINDOW_MS }),
    unauthorized: new SlidingLog({ windowMs: LIMIT_WINDOW_MS }),
  };
  let retrySharedAt = 0;
  let isSharedDown = false;

  const setSharedError = (error: unknown) => {
    if (error !== null) retrySharedAt = clock.monotonic() + RETRY_SHARED_MS;
    if (isSharedDown === (error !== null)) return;
    isSharedDown = error !== null;
    if (isSharedDown) log.warn({ err: error }, "shared rate limits unavailable; this node applies its own limits");
    else log.info({}, "shared rate limits available again");
  };

  return {
    /** Counts one request of the caller in this class. A rejected request is not counted. Never throws or rejects. */
    take(limitClass: LimitClass, caller: string, limit: number): Promise<LimitDecision> | LimitDecision {
      const now = clock.monotonic();
      const decision = local[limitClass].take(caller, limit, now);
      // All nodes together have accepted at least as many requests as this one, so a local rejection is final.
      if (shared === null || !decision.isAllowed || now < retrySharedAt) return decision;
      return shared.take(`${limitClass}:${caller}`, limit).then(
        (sharedDecision) => {
          setSharedError(null);
          if (!sharedDecision.isAllowed) local[limitClass].removeNewest(caller);
          return sharedDecision;
        },
        (error: unknown) => {
          setSharedError(error);
          return decision;
        },
      );
    },
  };
}
