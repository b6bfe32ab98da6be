import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../ports/clock.ts";

/** Yielded tasks, in the order in which they resume. */
const yielded: (() => void)[] = [];
/** Work to run at the end of the current event-loop iteration. */
let endOfIteration: (() => void)[] = [];

const runEndOfIteration = () => {
  const works = endOfIteration;
  endOfIteration = [];
  for (const work of works) work();
};

/** Resumes one task per event-loop iteration, because several together would block the event loop again. */
const resumeNext = () => {
  runEndOfIteration();
  yielded.shift()?.();
  if (yielded.length > 0) setImmediate(resumeNext);
};

/**
 * Runs `work` after the I/O events of this event-loop iteration and before yielded tasks resume. For short work that
 * responses wait for; it must not throw.
 */
export function atEndOfLoopIteration(work: () => void): void {
  endOfIteration.push(work);
  if (endOfIteration.length === 1) setImmediate(runEndOfIteration);
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout(callback, delayMs) {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
  async sleep(delayMs, signal) {
    await delay(delayMs, undefined, { signal });
  },
  yieldToEventLoop() {
    return new Promise((resolve) => {
      yielded.push(resolve);
      if (yielded.length === 1) setImmediate(resumeNext);
    });
  },
};
