/** Thrown if too many callers wait for a slot. */
export class QueueFullError extends Error {
  override name = "QueueFullError";
}

export interface FairSlotLimits {
  /** Slots that are used at the same time. */
  readonly slots: number;
  /** Slots that one key uses at the same time; all by default. */
  readonly perKey?: number;
  /** Callers that wait, in total and with one key; unlimited by default. */
  readonly waiting?: number;
  readonly waitingPerKey?: number;
}

/** Frees a slot. The caller calls it once. */
export type Release = () => void;

type Grant = (release: Release) => void;

/**
 * Slots of which a fixed number is used at the same time. Keys whose callers wait take turns, and the callers of one key are
 * served in their order. So a key with many callers delays another key by one turn.
 */
export class FairSlots {
  readonly #limits: FairSlotLimits;
  #used = 0;
  readonly #usedByKey = new Map<string, number>();
  /** Waiting callers by key, oldest first. The first key that may use another slot has the next turn. */
  readonly #waiting = new Map<string, Set<Grant>>();
  #waitingCount = 0;

  constructor(limits: FairSlotLimits) {
    this.#limits = limits;
  }

  /** Whether no slot is used and nobody waits. */
  get isIdle(): boolean {
    return this.#used === 0 && this.#waitingCount === 0;
  }

  /** Takes a slot if one is free for the key; otherwise returns null. */
  tryAcquire(key: string): Release | null {
    // This takes no turn of others: while a slot is free, only keys at their limit wait.
    return this.#canTake(key) ? this.#take(key) : null;
  }

  /**
   * Waits for a slot.
   *
   * @throws QueueFullError if too many callers wait; the signal's reason if it aborts
   */
  async acquire(key: string, signal?: AbortSignal): Promise<Release> {
    signal?.throwIfAborted();
    const release = this.tryAcquire(key);
    if (release !== null) return release;
    const { waiting = Number.POSITIVE_INFINITY, waitingPerKey = Number.POSITIVE_INFINITY } = this.#limits;
    const own = this.#waiting.get(key) ?? new Set<Grant>();
    if (this.#waitingCount >= waiting || own.size >= waitingPerKey)
      throw new QueueFullError("too many callers wait for a slot");
    this.#waiting.set(key, own);
    this.#waitingCount += 1;
    return new Promise((resolve, reject) => {
      const grant: Grant = (granted) => {
        signal?.removeEventListener("abort", onAbort);
        resolve(granted);
      };
      const onAbort = () => {
        this.#stopWaiting(key, grant);
        reject(signal?.reason);
      };
      own.add(grant);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Runs `work` in a slot. @throws the errors of `acquire` and of `work` */
  async run<Result>(key: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const release = await this.acquire(key, signal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  #canTake(key: string): boolean {
    const { slots, perKey = slots } = this.#limits;
    return this.#used < slots && (this.#usedByKey.get(key) ?? 0) < perKey;
  }

  #take(key: string): Release {
    this.#used += 1;
    this.#usedByKey.set(key, (this.#usedByKey.get(key) ?? 0) + 1);
    return () => {
      this.#used -= 1;
      const used = (this.#usedByKey.get(key) ?? 1) - 1;
      if (used === 0) this.#usedByKey.delete(key);
      else this.#usedByKey.set(key, used);
      this.#grantFreeSlots();
    };
  }

  #grantFreeSlots(): void {
    // The search passes only keys at their limit. There are at most `slots / perKey` of them, however many keys wait.
    while (this.#used < this.#limits.slots) {
      const key = this.#waiting.keys().find((candidate) => this.#canTake(candidate));
      const own = key === undefined ? undefined : this.#waiting.get(key);
      const [grant] = own ?? [];
      if (key === undefined || own === undefined || grant === undefined) return;
      this.#stopWaiting(key, grant);
      // The next turn of the key comes after those of all others.
      if (own.size > 0) {
        this.#waiting.delete(key);
        this.#waiting.set(key, own);
      }
      grant(this.#take(key));
    }
  }

  #stopWaiting(key: string, grant: Grant): void {
    const own = this.#waiting.get(key);
    if (own?.delete(grant) !== true) return;
    this.#waitingCount -= 1;
    if (own.size === 0) this.#waiting.delete(key);
  }
}
