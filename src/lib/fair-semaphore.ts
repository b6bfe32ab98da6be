/** Thrown if too many callers wait for a slot. */
export class QueueFullError extends Error {
  override name = "QueueFullError";
}

export interface FairSemaphoreLimits {
  readonly slots: number;
  /** Maximum number of slots that one key may hold; all by default. */
  readonly perKey?: number;
  /** Maximum number of waiting callers, in total and per key; unlimited by default. */
  readonly waiting?: number;
  readonly waitingPerKey?: number;
  /**
   * Maximum number of slots that a key may get out of turn because it got fewer slots than other keys before; 0 by
   * default. So a key with few requests waits little behind keys with many requests. At most every second slot is
   * granted out of turn, so the wait of other keys at most doubles. A release then scans all waiting keys.
   */
  readonly credit?: number;
}

/** Maximum number of keys whose granted slots are counted. The key with the least recent grant is removed first. */
const GRANTED_KEYS_MAX = 4_096;

/** Frees a slot. Must be called exactly once. */
export type Release = () => void;

type Grant = (release: Release) => void;

/**
 * A semaphore with a fixed number of slots, granted to waiting keys in round-robin order. Callers of one key are served
 * in order of arrival. So a key with many callers delays another key by one slot at most.
 */
export class FairSemaphore {
  readonly #limits: FairSemaphoreLimits;
  #used = 0;
  readonly #usedByKey = new Map<string, number>();
  /** Waiting callers by key, oldest first. The next slot goes to the first key below its limit. */
  readonly #waiting = new Map<string, Set<Grant>>();
  #waitingCount = 0;
  /** Number of slots granted to each key; unused without a credit. A missing entry means max(0, `#turn - credit`). */
  readonly #granted = new Map<string, number>();
  /** Number of slots granted to each key that has been waiting without interruption. */
  #turn = 0;
  #wasOutOfTurn = false;

  constructor(limits: FairSemaphoreLimits) {
    this.#limits = limits;
  }

  /** Whether no slot is used and no caller waits. */
  get isIdle(): boolean {
    return this.#used === 0 && this.#waitingCount === 0;
  }

  /** Acquires a slot if one is free for the key; otherwise returns null. */
  tryAcquire(key: string): Release | null {
    // This delays no other key: while a slot is free, only keys at their limit wait.
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

  #nextKey(): string | undefined {
    // The search skips only keys at their limit, of which there are at most `slots / perKey`.
    const first = this.#waiting.keys().find((key) => this.#canTake(key));
    if (this.#limits.credit === undefined || this.#wasOutOfTurn || first === undefined) {
      this.#wasOutOfTurn = false;
      return first;
    }
    let next = first;
    for (const key of this.#waiting.keys())
      if (this.#canTake(key) && this.#grantedTo(key) < this.#grantedTo(next)) next = key;
    this.#wasOutOfTurn = next !== first;
    return next;
  }

  #grantedTo(key: string): number {
    return Math.max(this.#granted.get(key) ?? 0, this.#turn - (this.#limits.credit ?? 0));
  }

  #countGrant(key: string): void {
    const { credit } = this.#limits;
    if (credit === undefined) return;
    const granted = this.#grantedTo(key);
    this.#turn = Math.max(this.#turn, granted);
    this.#granted.delete(key);
    this.#granted.set(key, granted + 1);
    for (const [other, count] of this.#granted) {
      if (count > this.#turn - credit && this.#granted.size <= GRANTED_KEYS_MAX) break;
      this.#granted.delete(other);
    }
  }

  #take(key: string): Release {
    this.#countGrant(key);
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
    while (this.#used < this.#limits.slots) {
      const key = this.#nextKey();
      const own = key === undefined ? undefined : this.#waiting.get(key);
      const [grant] = own ?? [];
      if (key === undefined || own === undefined || grant === undefined) return;
      this.#stopWaiting(key, grant);
      // Moves the key behind all other waiting keys.
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
