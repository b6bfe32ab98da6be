/** A token bucket: `capacity` tokens, refilled at `perSecond`. The caller passes the time in monotonic milliseconds. */
export class TokenBucket {
  readonly #capacity: number;
  readonly #perMs: number;
  #tokens: number;
  #updatedAt: number;

  constructor(options: { perSecond: number; capacity: number; now: number }) {
    this.#capacity = options.capacity;
    this.#perMs = options.perSecond / 1000;
    this.#tokens = options.capacity;
    this.#updatedAt = options.now;
  }

  /** Takes a token and returns 0. If none is available, returns the milliseconds until one is. */
  take(now: number): number {
    const waitMs = this.waitMs(now);
    if (waitMs === 0) this.#tokens -= 1;
    return waitMs;
  }

  /** Returns the milliseconds until a token is available; 0 if one is. */
  waitMs(now: number): number {
    const elapsed = Math.max(0, now - this.#updatedAt);
    this.#tokens = Math.min(this.#capacity, this.#tokens + elapsed * this.#perMs);
    this.#updatedAt = Math.max(now, this.#updatedAt);
    return this.#tokens >= 1 ? 0 : Math.ceil((1 - this.#tokens) / this.#perMs);
  }
}
