import { storeUnavailable } from "./errors.ts";

/** A lock that is granted in the order of the requests. */
export interface StatementQueue {
  /** Resolves with the function that releases the lock. Throws `store_unavailable` if the queue is full or the wait too long. */
  acquire(): Promise<() => void>;
  readonly queued: number;
}

/** Queues statements for a store that runs one at a time. Under overload it rejects statements instead of growing. */
export function createStatementQueue(bounds: {
  readonly queuedMax: number;
  readonly queuedMsMax: number;
}): StatementQueue {
  const queue = new Set<() => void>();
  let isHeld = false;

  const release = () => {
    const [next] = queue;
    if (next === undefined) isHeld = false;
    else {
      queue.delete(next);
      next();
    }
  };
  const releaseOnce = () => {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      release();
    };
  };

  return {
    get queued() {
      return queue.size;
    },
    async acquire() {
      if (!isHeld) {
        isHeld = true;
        return releaseOnce();
      }
      if (queue.size >= bounds.queuedMax) throw storeUnavailable("The store is busy: too many statements are queued.");
      return new Promise((resolve, reject) => {
        const start = () => {
          clearTimeout(timer);
          resolve(releaseOnce());
        };
        const timer = setTimeout(() => {
          queue.delete(start);
          reject(storeUnavailable("The store is busy: a statement was queued for too long."));
        }, bounds.queuedMsMax);
        queue.add(start);
      });
    },
  };
}
