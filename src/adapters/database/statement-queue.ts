import { storeUnavailable } from "./errors.ts";

/** A lock that is granted in the order of the requests. */
export interface StatementQueue {
  /** Resolves with a function that releases the lock. Throws `store_unavailable` if the queue is full or the wait too long. */
  acquire(): Promise<() => void>;
  readonly queued: number;
}

/** Creates a queue for a store that runs one statement at a time. A full queue rejects statements. */
export function createStatementQueue(bounds: {
  readonly queuedMax: number;
  readonly queuedMsMax: number;
}): StatementQueue {
  const waitingGrants = new Set<() => void>();
  let isHeld = false;

  const release = () => {
    const [nextGrant] = waitingGrants;
    if (nextGrant === undefined) isHeld = false;
    else {
      waitingGrants.delete(nextGrant);
      nextGrant();
    }
  };
  const createRelease = () => {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      release();
    };
  };

  return {
    get queued() {
      return waitingGrants.size;
    },
    async acquire() {
      if (!isHeld) {
        isHeld = true;
        return createRelease();
      }
      if (waitingGrants.size >= bounds.queuedMax)
        throw storeUnavailable("The store is busy: too many statements are queued.");
      return new Promise((resolve, reject) => {
        const grantLock = () => {
          clearTimeout(timer);
          resolve(createRelease());
        };
        const timer = setTimeout(() => {
          waitingGrants.delete(grantLock);
          reject(storeUnavailable("The store is busy: a statement was queued for too long."));
        }, bounds.queuedMsMax);
        waitingGrants.add(grantLock);
      });
    },
  };
}
