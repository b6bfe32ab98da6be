import { AppError } from "../domain/errors.ts";
import { AsyncEvent } from "../lib/async-event.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import { EVENTS_TOPIC, type EventLog } from "./event-log.ts";
import type { EventFilter, EventPage } from "./model.ts";

/** Polling interval. If a wake-up is lost, events are delayed by at most this time. */
const POLL_INTERVAL_MS = 1_000;
const BATCH_SIZE_DEFAULT = 200;

/** A batch of events. Resume from `through` after it has been processed. */
export type EventBatch = Omit<EventPage, "latestId">;

/**
 * Follows the log after the id `after` until the signal aborts: yields existing events, then waits for new events. It
 * reads the next batch after the consumer has processed the previous one. If the database is unavailable, it retries;
 * any other error is thrown.
 */
export async function* followEvents(options: {
  readonly log: Pick<EventLog, "readAfter">;
  readonly bus: Pick<Bus, "subscribe">;
  readonly clock: Clock;
  readonly after: number;
  readonly filter?: EventFilter;
  /** Maximum number of events in a batch, 1 to 1,000. */
  readonly batchMax?: number;
  readonly signal: AbortSignal;
}): AsyncGenerator<EventBatch, void, void> {
  const { log, bus, clock, filter, batchMax = BATCH_SIZE_DEFAULT, signal } = options;
  let after = options.after;
  const wakeUp = new AsyncEvent();
  const unsubscribe = bus.subscribe(EVENTS_TOPIC, () => wakeUp.set());
  const onAbort = () => wakeUp.set();
  signal.addEventListener("abort", onAbort);
  try {
    while (!signal.aborted) {
      wakeUp.reset();
      const page = await log.readAfter(after, { limit: batchMax, filter }).catch((error: unknown) => {
        if (error instanceof AppError && error.code === "store_unavailable") return null;
        throw error;
      });
      if (signal.aborted) return;
      if (page === null) {
        // Ignore wake-ups; otherwise a burst of them would cause retries at a high rate.
        await clock.sleep(POLL_INTERVAL_MS, signal).catch(() => {});
        continue;
      }
      after = page.through;
      if (page.events.length > 0 || page.hasGap) {
        yield { events: page.events, through: page.through, hasGap: page.hasGap };
      }
      // The read may not include the event of a wake-up that was received during the read.
      if (page.through >= page.latestId && !signal.aborted) await wakeUp.wait(clock, POLL_INTERVAL_MS);
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    unsubscribe();
  }
}
