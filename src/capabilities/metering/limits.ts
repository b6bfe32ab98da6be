import type { LimitClass, LimitDecision } from "../../domain/metering.ts";
import type { Clock } from "../../ports/clock.ts";
import type { SharedLimitLog } from "../../ports/limit-log.ts";
import type { Log } from "../../ports/log.ts";
import { SlidingLog } from "./sliding-log.ts";

/** Minute limits are limits of any 60 seconds. */
export const LIMIT_WINDOW_MS = 60_000;
/** After the shared log did not answer it is left alone for this long: callers shall not all wait for it in vain. */
const AWAY_MS = 1_000;

export interface RequestLimits {
  /** Takes one request of the caller in this class; a refused one is not counted. Never throws or rejects. */
  take(limitClass: LimitClass, caller: string, limit: number): Promise<LimitDecision> | LimitDecision;
}

/**
 * Minute limits of callers. A request passes where this node's own log and, if there is one, the log that all nodes share
 * allow it: so a limit holds over all nodes, and on each node also while the shared log is away or has just come back.
 */
export function createRequestLimits(options: {
  readonly clock: Clock;
  readonly log: Log;
  /** Null where this node is alone. */
  readonly shared: SharedLimitLog | null;
}): RequestLimits {
  const { clock, log, shared } = options;
  const own: Readonly<Record<LimitClass, SlidingLog>> = {
    general: new SlidingLog({ windowMs: LIMIT_WINDOW_MS }),
    strategy: new SlidingLog({ windowMs: LIMIT_WINDOW_MS }),
    unauthorized: new SlidingLog({ windowMs: LIMIT_WINDOW_MS }),
  };
  let awayUntil = 0;
  let isAway = false;

  const noteAnswer = (error: unknown) => {
    if (error !== null) awayUntil = clock.monotonic() + AWAY_MS;
    if (isAway === (error !== null)) return;
    isAway = error !== null;
    if (isAway) log.warn({ err: error }, "the shared limits cannot be reached; this node keeps its own meanwhile");
    else log.info({}, "the shared limits are back");
  };

  return {
    take(limitClass, caller, limit) {
      const now = clock.monotonic();
      const decision = own[limitClass].take(caller, limit, now);
      // What this node refuses, all nodes together would: they have accepted at least as much.
      if (shared === null || !decision.isAllowed || now < awayUntil) return decision;
      return shared.take(`${limitClass}:${caller}`, limit).then(
        (told) => {
          noteAnswer(null);
          if (!told.isAllowed) own[limitClass].giveBack(caller);
          return told;
        },
        (error: unknown) => {
          noteAnswer(error);
          return decision;
        },
      );
    },
  };
}
