import { FairSemaphore, QueueFullError, type Release } from "../../lib/fair-semaphore.ts";

export interface HostSemaphoreLimits {
  /** Requests at the same time, to all hosts. */
  readonly total: number;
  /** Requests at the same time to one host. */
  readonly perHost: number;
  /** Requests that wait for a slot, to all hosts. */
  readonly waiting: number;
  /** Requests to one host that wait for a slot of this host. */
  readonly waitingPerHost: number;
}

/** Limits how many requests run at the same time, in total and per host, and how many wait. Customers take turns. */
export class HostSemaphore {
  readonly #limits: HostSemaphoreLimits;
  readonly #all: FairSemaphore;
  readonly #hosts = new Map<string, FairSemaphore>();
  #waiting = 0;

  constructor(limits: HostSemaphoreLimits) {
    this.#limits = limits;
    this.#all = new FairSemaphore({ slots: limits.total });
  }

  /** Number of hosts with requests. */
  get hosts(): number {
    return this.#hosts.size;
  }

  /**
   * Waits for a slot. A request first waits for its host, so that a slow host leaves the other slots free.
   *
   * @param customer  id of the customer; requests without one take turns together
   * @throws QueueFullError if too many requests wait; the signal's reason if it aborts
   */
  async acquire(host: string, customer: string, signal: AbortSignal): Promise<Release> {
    const { perHost, waitingPerHost } = this.#limits;
    const slots = this.#hosts.get(host) ?? new FairSemaphore({ slots: perHost, waiting: waitingPerHost });
    this.#hosts.set(host, slots);
    try {
      const releaseHost = await this.#wait(slots, customer, signal);
      try {
        const releaseAll = await this.#wait(this.#all, customer, signal);
        return () => {
          releaseAll();
          releaseHost();
          this.#forgetIdle(host, slots);
        };
      } catch (error) {
        releaseHost();
        throw error;
      }
    } catch (error) {
      this.#forgetIdle(host, slots);
      throw error;
    }
  }

  async #wait(slots: FairSemaphore, customer: string, signal: AbortSignal): Promise<Release> {
    signal.throwIfAborted();
    const free = slots.tryAcquire(customer);
    if (free !== null) return free;
    if (this.#waiting >= this.#limits.waiting) throw new QueueFullError("too many requests wait");
    this.#waiting += 1;
    try {
      return await slots.acquire(customer, signal);
    } finally {
      this.#waiting -= 1;
    }
  }

  #forgetIdle(host: string, slots: FairSemaphore): void {
    if (slots.isIdle && this.#hosts.get(host) === slots) this.#hosts.delete(host);
  }
}
