import { FairSemaphore, QueueFullError, type Release } from "../../lib/fair-semaphore.ts";

export interface HostSemaphoreLimits {
  /** Maximum number of concurrent requests to all hosts. */
  readonly total: number;
  /** Maximum number of concurrent requests to one host. */
  readonly perHost: number;
  /** Maximum number of waiting requests to all hosts. */
  readonly waiting: number;
  /** Maximum number of waiting requests to one host. */
  readonly waitingPerHost: number;
}

/** Limits the concurrent and waiting requests, in total and per host. Customers are served in round-robin order. */
export function createHostSemaphore(limits: HostSemaphoreLimits) {
  const allSlots = new FairSemaphore({ slots: limits.total });
  const hosts = new Map<string, FairSemaphore>();
  let waiting = 0;

  const wait = async (slots: FairSemaphore, customer: string, signal: AbortSignal): Promise<Release> => {
    signal.throwIfAborted();
    const free = slots.tryAcquire(customer);
    if (free !== null) return free;
    if (waiting >= limits.waiting) throw new QueueFullError("too many requests wait");
    waiting += 1;
    try {
      return await slots.acquire(customer, signal);
    } finally {
      waiting -= 1;
    }
  };

  const forgetIdle = (host: string, slots: FairSemaphore): void => {
    if (slots.isIdle && hosts.get(host) === slots) hosts.delete(host);
  };
  return {
    /** Number of hosts with requests. */
    get hosts(): number {
      return hosts.size;
    },
    /**
     * Waits for a slot. A request first waits for a slot of its host, so that requests to a slow host do not hold the
     * slots for all hosts.
     *
     * @param customer  id of the customer; requests without a customer count as one customer
     * @throws QueueFullError if too many requests wait; the signal's reason if it aborts
     */
    async acquire(host: string, customer: string, signal: AbortSignal): Promise<Release> {
      const { perHost, waitingPerHost } = limits;
      const slots = hosts.get(host) ?? new FairSemaphore({ slots: perHost, waiting: waitingPerHost });
      hosts.set(host, slots);
      try {
        const releaseHost = await wait(slots, customer, signal);
        try {
          const releaseAll = await wait(allSlots, customer, signal);
          return () => {
            releaseAll();
            releaseHost();
            forgetIdle(host, slots);
          };
        } catch (error) {
          releaseHost();
          throw error;
        }
      } catch (error) {
        forgetIdle(host, slots);
        throw error;
      }
    },
  };
}
