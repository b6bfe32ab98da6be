import { storeUnavailable } from "./errors.ts";

/** Hands out one turn at a time, first come first served. */
export interface StatementQueue {
  /** Resolves when it is the caller's turn, with the function that ends it. Throws `store_unavailable` when too many wait, or too long. */
  take(): Promise<() => void>;
  readonly waiting: number;
}

/** Turns for a store that does one thing at a time. Both bounds turn overload into an answer instead of a growing queue. */
export function createStatementQueue(bounds: {
  readonly waitingMax: number;
  readonly waitMsMax: number;
}): StatementQueue {
  const queue = new Set<() => void>();
  let isTaken = false;

  const end = () => {
    const [next] = queue;
    if (next === undefined) isTaken = false;
    else {
      queue.delete(next);
      next();
    }
  };
  const endOnce = () => {
    let isEnded = false;
    return () => {
      if (isEnded) return;
      isEnded = true;
      end();
    };
  };

  return {
    get waiting() {
      return queue.size;
    },
    async take() {
      if (!isTaken) {
        isTaken = true;
        return endOnce();
      }
      if (queue.size >= bounds.waitingMax)
        throw storeUnavailable("The store is busy: too many statements wait for it.");
      return new Promise((resolve, reject) => {
        const start = () => {
          clearTimeout(timer);
          resolve(endOnce());
        };
        const timer = setTimeout(() => {
          queue.delete(start);
          reject(storeUnavailable("The store is busy: a statement waited too long for its turn."));
        }, bounds.waitMsMax);
        queue.add(start);
      });
    },
  };
}
