import { AppError } from "../domain/errors.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import { EVENTS_TOPIC, type EventLog } from "./event-log.ts";
import type { EventFilter, LoggedEvent } from "./model.ts";

/** Without a wake-up the log is looked at this often: a lost one costs a second, never an event. */
const POLL_MS = 1_000;
const BATCH_DEFAULT = 200;

export interface EventBatch {
  readonly events: readonly LoggedEvent[];
  /** The position to resume from once this batch is dealt with. */
  readonly through: number;
  /** Before these events some are missing for good: retention has dropped them, or the position was never given out. */
  readonly hasGap: boolean;
}

/**
 * Follows the log behind `after` until the signal aborts: yields what is there, then waits for more. Reads one batch at a
 * time and only when the last one was taken, so a slow taker costs nothing but his own delay. While the store is
 * away it waits; other errors end it.
 */
export async function* followEvents(options: {
  readonly log: Pick<EventLog, "readAfter">;
  readonly bus: Pick<Bus, "subscribe">;
  readonly clock: Clock;
  readonly after: number;
  readonly filter?: EventFilter;
  /** Events in a batch, 1 to 1,000. */
  readonly batchMax?: number;
  readonly signal: AbortSignal;
}): AsyncGenerator<EventBatch, void, void> {
  const { log, bus, clock, filter, batchMax = BATCH_DEFAULT, signal } = options;
  let after = options.after;
  let isWoken = false;
  let endWait: () => void = () => {};
  const unsubscribe = bus.subscribe(EVENTS_TOPIC, () => {
    isWoken = true;
    endWait();
  });
  const onAbort = () => endWait();
  signal.addEventListener("abort", onAbort);
  const waitForMore = () =>
    new Promise<void>((resolve) => {
      const cancel = clock.setTimeout(() => endWait(), POLL_MS);
      endWait = () => {
        cancel();
        resolve();
      };
      // Woken while it was reading: what woke it may have come too late for that read.
      if (isWoken || signal.aborted) endWait();
    });
  try {
    while (!signal.aborted) {
      isWoken = false;
      const page = await log
        .readAfter(after, { limit: batchMax, ...(filter === undefined ? {} : { filter }) })
        .catch((error: unknown) => {
          if (error instanceof AppError && error.code === "store_unavailable") return null;
          throw error;
        });
      if (signal.aborted) return;
      if (page === null) {
        // A wake-up does not bring the store back, and must not make us hammer it.
        await clock.sleep(POLL_MS, signal).catch(() => {});
        continue;
      }
      after = page.through;
      if (page.events.length > 0 || page.hasGap) {
        yield { events: page.events, through: page.through, hasGap: page.hasGap };
      }
      if (page.through >= page.latestId) await waitForMore();
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    unsubscribe();
  }
}
