/** Thrown when the queue is full. */
export class QueueFullError extends Error {
  override name = "QueueFullError";
}

interface Waiter {
  resolve(): void;
}

/** Slots of which a fixed number is used at the same time. Callers beyond that wait, first come first served. */
class Slots {
  readonly #slotsMax: number;
  readonly #waiters = new Set<Waiter>();
  #used = 0;

  constructor(slotsMax: number) {
    this.#slotsMax = slotsMax;
  }

  get isIdle(): boolean {
    return this.#used === 0 && this.#waiters.size === 0;
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  /** Takes a free slot. Returns false if there is none. */
  tryTake(): boolean {
    if (this.#used >= this.#slotsMax) return false;
    this.#used++;
    return true;
  }

  /** Waits for a slot. Rejects with the signal's reason if it aborts. */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.tryTake()) return;
    await new Promise<void>((resolve, reject) => {
      const waiter = {
        resolve() {
          signal.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      const onAbort = () => {
        this.#waiters.delete(waiter);
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiters.add(waiter);
    });
  }

  /** Frees a slot, or passes it to the first waiter. */
  release(): void {
    const [first] = this.#waiters;
    if (first === undefined) this.#used--;
    else {
      this.#waiters.delete(first);
      first.resolve();
    }
  }
}

export interface SlotLimits {
  /** Requests at the same time, to all hosts. */
  readonly total: number;
  /** Requests at the same time to one host. */
  readonly perHost: number;
  /** Requests that wait for a slot, to all hosts. */
  readonly waiting: number;
  /** Requests to one host that wait for a slot of this host. */
  readonly waitingPerHost: number;
}

/** Limits how many requests run at the same time, in total and per host, and how many wait. */
export class HostSlots {
  readonly #limits: SlotLimits;
  readonly #all: Slots;
  readonly #hosts = new Map<string, Slots>();
  #waiting = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
    this.#all = new Slots(limits.total);
  }

  /**
   * Waits for a slot. A request first waits for its host, so that a slow host leaves the other slots free.
   *
   * @returns function that frees the slot; the caller calls it once
   * @throws QueueFullError if too many requests wait; the signal's reason if it aborts
   */
  async acquire(host: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const slots = this.#hosts.get(host) ?? new Slots(this.#limits.perHost);
    const hasHostSlot = slots.tryTake();
    this.#hosts.set(host, slots);
    const release = () => {
      this.#all.release();
      this.#releaseHost(host, slots);
    };
    if (hasHostSlot && this.#all.tryTake()) return release;
    if (this.#waiting >= this.#limits.waiting || (!hasHostSlot && slots.waiting >= this.#limits.waitingPerHost)) {
      if (hasHostSlot) this.#releaseHost(host, slots);
      throw new QueueFullError("too many requests wait");
    }
    this.#waiting++;
    try {
      if (!hasHostSlot) await slots.take(signal);
      await this.#all.take(signal).catch((error: unknown) => {
        this.#releaseHost(host, slots);
        throw error;
      });
      return release;
    } finally {
      this.#waiting--;
    }
  }

  /** Number of hosts with requests. */
  get hosts(): number {
    return this.#hosts.size;
  }

  #releaseHost(host: string, slots: Slots): void {
    slots.release();
    if (slots.isIdle) this.#hosts.delete(host);
  }
}
