import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";

/** Maximum time until the first sweeps end before a start without stored markets is ready. */
const READY_WAIT_MS_MAX = 8_000;
/** Maximum time after readiness until the first sweeps and the matching end, to log them. */
const LOG_WAIT_MS_MAX = 60_000;
const POLL_INTERVAL_MS = 20;

/** The steps of a start. The venues are the simulated ones; the last two steps may end after `ready`. */
type StartStep =
  | "imports"
  | "store"
  | "migrations"
  | "venues"
  | "app"
  | "restore"
  | "listen"
  | "ready"
  | "first_sweeps"
  | "matching";

export type StartTimeline = ReturnType<typeof createStartTimeline>;

/** Records when each step of the start ended. @param clock  its monotonic time is 0 at the start of the process */
export function createStartTimeline(clock: Pick<Clock, "monotonic">) {
  const ends = new Map<StartStep, number>();
  return {
    end(step: StartStep): void {
      ends.set(step, clock.monotonic());
    },
    /** Milliseconds from the start of the process until the end of each step that has ended, in that order. */
    ends: ends as ReadonlyMap<StartStep, number>,
  };
}

/**
 * Waits until the service is ready, then logs the timeline when the first sweeps have ended and all markets are matched.
 *
 * @param options.hasMarkets  whether the board contains stored markets. Their prices have the times at which they were
 *   read, so the service is ready at once; an empty board waits for the first sweeps
 * @param options.isSwept     whether the first sweep of each venue has succeeded or failed
 * @returns a promise that resolves when the service is ready, and one that resolves when the timeline is logged
 */
export function finishStart(options: {
  readonly clock: Pick<Clock, "monotonic" | "sleep">;
  readonly log: Log;
  readonly timeline: StartTimeline;
  readonly hasMarkets: boolean;
  readonly isSwept: () => boolean;
  readonly isMatched: () => boolean;
  readonly markReady: () => void;
}): { readonly ready: Promise<void>; readonly logged: Promise<void> } {
  const { clock, log, timeline, isSwept, isMatched } = options;
  const waitFor = async (step: StartStep, hasEnded: () => boolean, waitMs: number) => {
    const startedAt = clock.monotonic();
    while (!hasEnded()) {
      if (clock.monotonic() - startedAt >= waitMs) return;
      await clock.sleep(POLL_INTERVAL_MS);
    }
    timeline.end(step);
  };
  const waitUntilReady = async () => {
    if (!options.hasMarkets) await waitFor("first_sweeps", isSwept, READY_WAIT_MS_MAX);
    options.markReady();
    timeline.end("ready");
  };
  const ready = waitUntilReady();
  const logTimeline = async () => {
    await ready;
    if (!timeline.ends.has("first_sweeps")) await waitFor("first_sweeps", isSwept, LOG_WAIT_MS_MAX);
    await waitFor("matching", isMatched, LOG_WAIT_MS_MAX);
    const fields = [...timeline.ends].map(([step, ms]) => [`${step}_ms`, Math.round(ms)]);
    log.info(Object.fromEntries(fields), "start completed");
  };
  return { ready, logged: logTimeline() };
}
