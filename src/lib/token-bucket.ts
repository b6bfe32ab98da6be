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

  /** Takes a token and returns 0. If no token is available, returns the milliseconds until the next one. */
  take(now: number): number {
    const waitMs = this.waitMs(now);
    if (waitMs === 0) this.#tokens -= 1;
    return waitMs;
  }

  /** Returns the milliseconds until a token is available; 0 if a token is available now. */
  waitMs(now: number): number {
    const elapsed = Math.max(0, now - this.#updatedAt);
    this.#tokens = Math.min(this.#capacity, this.#tokens + elapsed * this.#perMs);
    this.#updatedAt = Math.max(now, this.#updatedAt);
    return this.#tokens >= 1 ? 0 : Math.ceil((1 - this.#tokens) / this.#perMs);
  }
}
