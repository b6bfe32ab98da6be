import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../ports/clock.ts";

/** Who waits for a turn; no more of them than there are pieces of work under way. */
const waiting: (() => void)[] = [];
/** What a round of the event loop ends with, before anybody has a turn. */
let endings: (() => void)[] = [];

const endRound = () => {
  const due = endings;
  endings = [];
  for (const work of due) work();
};

/** One a round of the event loop: whatever several of them do would again be one long piece. */
const grantTurn = () => {
  endRound();
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(grantTurn);
};

/**
 * Runs `work` once all that came in with this round of the event loop was taken up, and before whoever waits for a turn:
 * for something short that answers wait for. It must not throw.
 */
export function atEndOfLoopIteration(work: () => void): void {
  endings.push(work);
  if (endings.length === 1) setImmediate(endRound);
}

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
  yieldToEventLoop() {
    return new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(grantTurn);
    });
  },
};
