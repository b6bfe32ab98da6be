import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../ports/clock.ts";

/** The wall clock and timers of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout(callback, delayMs) {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
  async sleep(delayMs, signal) {
    await delay(delayMs, undefined, signal === undefined ? {} : { signal });
  },
};
