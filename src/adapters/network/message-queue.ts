import type { Clock } from "../../ports/clock.ts";

/** How long one turn may go on with what has come in; then everybody else has a turn. */
const TURN_MS_MAX = 1;
/** Beyond this nothing waits any longer: a sender that is faster than we are is felt at once, and memory stays bounded. */
const WAITING_MAX = 10_000;

/**
 * What a socket brings, worked off in its order and in turns. Bursts of thousands of frames are read from the network at
 * once; worked off at once too, they would hold up every request that is waiting for an answer.
 */
export function createMessageQueue(clock: Clock): (work: () => void) => void {
  let waiting: (() => void)[] = [];
  let isWorking = false;

  const workOffUntil = (isOver: () => boolean) => {
    let done = 0;
    // What is left stays in order even where a piece of work brings more, or throws.
    try {
      for (let work = waiting[done]; work !== undefined && !(done > 0 && isOver()); work = waiting[done]) {
        done += 1;
        work();
      }
    } finally {
      waiting = waiting.slice(done);
    }
  };

  const workOff = async () => {
    while (waiting.length > 0) {
      await clock.yieldToEventLoop();
      const until = clock.monotonic() + TURN_MS_MAX;
      workOffUntil(() => clock.monotonic() >= until);
    }
  };

  return (work) => {
    waiting.push(work);
    if (waiting.length >= WAITING_MAX) workOffUntil(() => false);
    if (isWorking || waiting.length === 0) return;
    isWorking = true;
    void workOff().finally(() => {
      isWorking = false;
    });
  };
}
