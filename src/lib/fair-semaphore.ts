/** Thrown if too many callers wait for a slot. */
export class QueueFullError extends Error {
  override name = "QueueFullError";
}

export interface FairSemaphoreLimits {
  /** Slots that are used at the same time. */
  readonly slots: number;
  /** Slots that one key uses at the same time; all by default. */
  readonly perKey?: number;
  /** Callers that wait, in total and with one key; unlimited by default. */
  readonly waiting?: number;
  readonly waitingPerKey?: number;
  /**
   * Slots that a key may get out of turn if it got fewer than the others before; none by default. So a key that
   * requests less than its share waits little for keys that request more. At most every second slot is given out of
   * turn, so that new keys double the wait of the others at most. For few waiting keys: a release visits all.
   */
  readonly credit?: number;
}

/** Limit of keys whose slots are counted for their credits; the key that got a slot least recently is deleted first. */
const GRANTED_KEYS_MAX = 4_096;

/** Frees a slot. The caller calls it once. */
export type Release = () => void;

type Grant = (release: Release) => void;

/**
 * A semaphore with a fixed number of slots. Keys whose callers wait take turns, and the callers of one key are
 * served in their order. So a key with many callers delays another key by one turn.
 */
export class FairSemaphore {
  readonly #limits: FairSemaphoreLimits;
  #used = 0;
  readonly #usedByKey = new Map<string, number>();
  /** Waiting callers by key, oldest first. The first key that may use another slot has the next turn. */
  readonly #waiting = new Map<string, Set<Grant>>();
  #waitingCount = 0;
  /** Slots that each key got. A key without an entry counts as `#turn - credit`, at least 0. Empty without a credit. */
  readonly #granted = new Map<string, number>();
  /** Slots that the keys got that always wait. */
  #turn = 0;
  #wasOutOfTurn = false;

  constructor(limits: FairSemaphoreLimits) {
    this.#limits = limits;
  }

  /** Whether no slot is used and no caller waits. */
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

  #nextKey(): string | undefined {
    // The search passes only keys at their limit. There are at most `slots / perKey` of them, however many keys wait.
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
