import { currentCaller } from "../../lib/current-caller.ts";
import { FairSemaphore, QueueFullError, type Release } from "../../lib/fair-semaphore.ts";
import { storeUnavailable } from "./errors.ts";

/** Maximum number of waiting calls of one caller, so that the queue has room for other callers. */
const WAITING_PER_CALLER_MAX = 256;

export type StatementQueue = ReturnType<typeof createStatementQueue>;

/**
 * Creates slots for statements and transactions. Waiting callers are served in round-robin order, in which each call of
 * the service itself counts as a separate caller.
 *
 * @param limits.runningPerCaller  maximum number of slots of one caller; all by default
 * @param limits.waiting  maximum number of waiting calls
 */
export function createStatementQueue(limits: {
  readonly running: number;
  readonly runningPerCaller?: number;
  readonly waiting: number;
}) {
  const { running, runningPerCaller, waiting } = limits;
  const slots = new FairSemaphore({
    slots: running,
    perKey: runningPerCaller ?? running,
    waiting,
    waitingPerKey: WAITING_PER_CALLER_MAX,
  });
  let serviceCalls = 0;

  const waitForSlot = async (key: string, waitMsMax: number): Promise<Release> => {
    const waitEnd = new AbortController();
    const timer = setTimeout(
      () => waitEnd.abort(storeUnavailable("The store is busy: a statement was queued for too long.")),
      waitMsMax,
    );
    try {
      return await slots.acquire(key, waitEnd.signal);
    } catch (error) {
      if (!(error instanceof QueueFullError)) throw error;
      throw storeUnavailable("The store is busy: too many statements are queued.");
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    /**
     * Resolves with a function that releases the slot and must be called once.
     *
     * @param waitMsMax  maximum wait in milliseconds
     * @throws AppError `store_unavailable` if too many calls wait, in total or of one caller, or if the wait is too long
     */
    async acquire(waitMsMax: number): Promise<Release> {
      serviceCalls += 1;
      const key = currentCaller() ?? `service ${serviceCalls}`;
      return slots.tryAcquire(key) ?? waitForSlot(key, waitMsMax);
    },
  };
}
