import type { Clock } from "../../ports/clock.ts";

/** Processing time after which the queue yields to the event loop. */
const SLICE_MS_MAX = 1;
/** Limit of queued messages. A full queue is drained without yielding, which bounds the memory and slows the sender. */
const QUEUED_MESSAGES_MAX = 10_000;

/**
 * Returns a function that queues the processing of a message. Messages are processed in order, in slices between which
 * the event loop runs: a burst of thousands of frames would otherwise delay every HTTP request.
 */
export function createMessageQueue(clock: Clock): (work: () => void) => void {
  let queued: (() => void)[] = [];
  let isDraining = false;

  const drainUntil = (isTimeUp: () => boolean) => {
    let processed = 0;
    // The remaining messages stay in order, even if the work of a message throws or queues messages.
    try {
      for (
        let work = queued[processed];
        work !== undefined && !(processed > 0 && isTimeUp());
        work = queued[processed]
      ) {
        processed += 1;
        work();
      }
    } finally {
      queued = queued.slice(processed);
    }
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
