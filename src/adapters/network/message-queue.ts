import type { Clock } from "../../ports/clock.ts";

/** Processing time after which the queue yields to the event loop. */
const SLICE_MS_MAX = 1;
/** Maximum number of queued messages. A full queue is drained without yielding, which bounds the memory. */
const QUEUED_MESSAGES_MAX = 10_000;

/**
 * Returns a function that queues the processing of a message. Messages are processed in order, in slices with a yield
 * to the event loop between them. Otherwise a burst of thousands of frames would delay every HTTP request.
 *
 * @param onError  called if the processing of a message throws; an uncaught error would end the process
 */
export function createMessageQueue(clock: Clock, onError: (error: unknown) => void): (work: () => void) => void {
  let queued: (() => void)[] = [];
  let isDraining = false;

  const drainUntil = (isTimeUp: () => boolean) => {
    let processed = 0;
    for (let work = queued[processed]; work !== undefined && !(processed > 0 && isTimeUp()); work = queued[processed]) {
      processed += 1;
      try {
        work();
      } catch (error) {
        onError(error);
      }
    }
    queued = queued.slice(processed);
  };

  const drain = async () => {
    while (queued.length > 0) {
      await clock.yieldToEventLoop();
      const sliceEndsAt = clock.monotonic() + SLICE_MS_MAX;
      drainUntil(() => clock.monotonic() >= sliceEndsAt);
    }
  };

  return (work) => {
    queued.push(work);
    if (queued.length >= QUEUED_MESSAGES_MAX) drainUntil(() => false);
    if (isDraining || queued.length === 0) return;
    isDraining = true;
    void drain().finally(() => {
      isDraining = false;
    });
  };
}

/** Formats an error in the processing of a message as the reason for closing the connection. */
export const describeFailure = (error: unknown): string =>
  `a message could not be processed: ${error instanceof Error ? error.message : String(error)}`;
