import type { LimitDecision } from "../../../domain/metering.ts";

interface CallerWindow {
  /** Ring buffer of the timestamps of accepted requests; once it is full, `next` is the index of the oldest. */
  timestamps: Float64Array;
  next: number;
  count: number;
  /** Timestamp of the last accepted request. */
  lastAt: number;
}

const CALLERS_MAX = 100_000;
/** Initial length of a ring buffer. Most callers send few requests; the buffer grows if necessary. */
const INITIAL_LENGTH = 8;

/**
 * Limits the requests per caller exactly, in any window of `windowMs`. Stores one timestamp per accepted request of the
 * last window. Above `callersMax` callers, the least recently used caller is deleted. Times are monotonic milliseconds.
 */
export class SlidingLog {
  readonly #windowMs: number;
  readonly #callersMax: number;
  /** By caller, in order of use, least recently used first. */
  readonly #windows = new Map<string, CallerWindow>();
  /** The last of the windows. */
  #newest: CallerWindow | null = null;

  constructor(options: { readonly windowMs: number; readonly callersMax?: number }) {
    this.#windowMs = options.windowMs;
    this.#callersMax = options.callersMax ?? CALLERS_MAX;
  }

  get size(): number {
    return this.#windows.size;
  }

  /** Counts one request of `caller` if `limit` allows it. A rejected request is not counted. */
  take(caller: string, limit: number, now: number): LimitDecision {
    if (limit <= 0) return { isAllowed: false, remaining: 0, waitMs: this.#windowMs };
    const window = this.#windowOf(caller, limit);
    this.#dropExpired(window, now);
    if (window.count >= limit)
      return { isAllowed: false, remaining: 0, waitMs: this.#oldestTimestamp(window) + this.#windowMs - now };
    if (window.count === window.timestamps.length) resize(window, Math.min(limit, 2 * window.count));
    window.timestamps[window.next] = now;
    window.next = (window.next + 1) % window.timestamps.length;
    window.count += 1;
    window.lastAt = now;
    if (this.#newest !== window) {
      this.#windows.delete(caller);
      this.#windows.set(caller, window);
      this.#newest = window;
    }
    if (this.#windows.size > 1) this.#evict(now);
    return {
      isAllowed: true,
      remaining: limit - window.count,
      waitMs: this.#oldestTimestamp(window) + this.#windowMs - now,
    };
  }

  /** Returns the milliseconds until a request of `caller` would be allowed; 0 if it is allowed now. Counts no request. */
  waitMs(caller: string, limit: number, now: number): number {
    const window = this.#windows.get(caller);
    if (window === undefined) return 0;
    this.#dropExpired(window, now);
    return window.count < limit ? 0 : this.#nthNewestTimestamp(window, limit) + this.#windowMs - now;
  }

  /** Returns whether `take` would allow a request, and the remaining requests before it. Counts no request. */
  peek(caller: string, limit: number, now: number): LimitDecision {
    const window = this.#windows.get(caller);
    if (limit <= 0) return { isAllowed: false, remaining: 0, waitMs: this.#windowMs };
    if (window !== undefined) this.#dropExpired(window, now);
    if (window === undefined || window.count === 0) return { isAllowed: true, remaining: limit, waitMs: 0 };
    const remaining = Math.max(0, limit - window.count);
    const blocking = this.#nthNewestTimestamp(window, Math.min(window.count, limit));
    return { isAllowed: remaining > 0, remaining, waitMs: blocking + this.#windowMs - now };
  }

  /** Removes the newest request of `caller`, because the shared limiter has rejected it. */
  removeNewest(caller: string): void {
    const window = this.#windows.get(caller);
    if (window === undefined || window.count === 0) return;
    window.count -= 1;
    window.next = (window.next - 1 + window.timestamps.length) % window.timestamps.length;
  }

  /** Returns the caller's window. Shortens its buffer if the limit was lowered; the newest timestamps are kept. */
  #windowOf(caller: string, limit: number): CallerWindow {
    const existing = this.#windows.get(caller);
    if (existing === undefined) {
      const length = Math.min(limit, INITIAL_LENGTH);
      return { timestamps: new Float64Array(length), next: 0, count: 0, lastAt: Number.NEGATIVE_INFINITY };
    }
    if (existing.timestamps.length > limit) resize(existing, limit);
    return existing;
  }

  /** Drops timestamps outside the window (now - windowMs, now]. */
  #dropExpired(window: CallerWindow, now: number): void {
    while (window.count > 0 && this.#oldestTimestamp(window) <= now - this.#windowMs) window.count -= 1;
  }

  #oldestTimestamp(window: CallerWindow): number {
    return this.#nthNewestTimestamp(window, window.count);
  }

  #nthNewestTimestamp(window: CallerWindow, n: number): number {
    const length = window.timestamps.length;
    return window.timestamps[(window.next - n + length) % length] ?? 0;
  }

  /** Deletes callers without requests in the window, and the least recently used ones above `callersMax`. */
  #evict(now: number): void {
    for (const [caller, window] of this.#windows) {
      if (window.lastAt > now - this.#windowMs && this.#windows.size <= this.#callersMax) return;
      this.#windows.delete(caller);
    }
  }
}

/** Moves the newest timestamps into a ring buffer of another length. */
function resize(window: CallerWindow, length: number): void {
  const count = Math.min(window.count, length);
  const resized = new Float64Array(length);
  const { timestamps, next } = window;
  for (let index = 0; index < count; index++) {
    resized[index] = timestamps[(next - count + index + timestamps.length) % timestamps.length] ?? 0;
  }
  window.timestamps = resized;
  window.next = count % length;
  window.count = count;
}
