import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../ports/clock.ts";

/** Functions that resume the yielded tasks, in order. */
const yieldedTasks: (() => void)[] = [];
/** Work to run at the end of the current event-loop iteration. */
let endOfIterationWork: (() => void)[] = [];

const runEndOfIteration = () => {
  const works = endOfIterationWork;
  endOfIterationWork = [];
  for (const work of works) work();
};

/** Resumes one task per event-loop iteration, because several tasks together would block the event loop. */
const resumeNext = () => {
  runEndOfIteration();
  yieldedTasks.shift()?.();
  if (yieldedTasks.length > 0) setImmediate(resumeNext);
};

/**
 * Runs `work` after the I/O events of this event-loop iteration and before yielded tasks resume. Use it for short
 * work that responses wait for. `work` must not throw.
 */
export function atEndOfLoopIteration(work: () => void): void {
  endOfIterationWork.push(work);
  if (endOfIterationWork.length === 1) setImmediate(runEndOfIteration);
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
      yieldedTasks.push(resolve);
      if (yieldedTasks.length === 1) setImmediate(resumeNext);
    });
  },
};
