import type { LimitDecision } from "../../domain/metering.ts";

interface Log {
  /** Ring buffer of the timestamps of accepted requests; once it is full, `next` is the index of the oldest. */
  timestamps: Float64Array;
  next: number;
  count: number;
  /** Timestamp of the last accepted request. */
  lastAt: number;
}

const CALLERS_MAX = 100_000;
/** Initial length of a log. Most callers send few requests; a log grows as needed. */
const INITIAL_LENGTH = 8;

/**
 * An exact limit of requests per caller in any window of `windowMs`. Stores one number per accepted request of the last
 * window. Above `callersMax` callers it drops the one with the oldest last request. All times are monotonic milliseconds.
 */
export class SlidingLog {
  readonly #windowMs: number;
  readonly #callersMax: number;
  /** By caller, the least recently used first. */
  readonly #logs = new Map<string, Log>();

  constructor(options: { readonly windowMs: number; readonly callersMax?: number }) {
    this.#windowMs = options.windowMs;
    this.#callersMax = options.callersMax ?? CALLERS_MAX;
  }

  get size(): number {
    return this.#logs.size;
  }

  /** Counts one request of `caller` if `limit` allows it. A rejected request is not counted. */
  take(caller: string, limit: number, now: number): LimitDecision {
    if (limit <= 0) return { isAllowed: false, remaining: 0, waitMs: this.#windowMs };
    const log = this.#logOf(caller, limit);
    this.#dropExpired(log, now);
    if (log.count >= limit) return { isAllowed: false, remaining: 0, waitMs: this.#oldest(log) + this.#windowMs - now };
    if (log.count === log.timestamps.length) resize(log, Math.min(limit, 2 * log.count));
    log.timestamps[log.next] = now;
    log.next = (log.next + 1) % log.timestamps.length;
    log.count += 1;
    log.lastAt = now;
    this.#logs.delete(caller);
    this.#logs.set(caller, log);
    this.#evict(now);
    return { isAllowed: true, remaining: limit - log.count, waitMs: this.#oldest(log) + this.#windowMs - now };
  }

  /** Milliseconds until a request of `caller` would be allowed; 0 if it would be now. Counts nothing. */
  waitMs(caller: string, limit: number, now: number): number {
    const log = this.#logs.get(caller);
    if (log === undefined) return 0;
    this.#dropExpired(log, now);
    return log.count < limit ? 0 : this.#nthNewest(log, limit) + this.#windowMs - now;
  }

  /** Removes the newest request of `caller`, for a request that the shared limit rejected. */
  removeNewest(caller: string): void {
    const log = this.#logs.get(caller);
    if (log === undefined || log.count === 0) return;
    log.count -= 1;
    log.next = (log.next - 1 + log.timestamps.length) % log.timestamps.length;
  }

  /** The caller's log, shortened to `limit` if a new plan lowered it. Earlier requests stay counted. */
  #logOf(caller: string, limit: number): Log {
    const existing = this.#logs.get(caller);
    if (existing === undefined) {
      const length = Math.min(limit, INITIAL_LENGTH);
      return { timestamps: new Float64Array(length), next: 0, count: 0, lastAt: Number.NEGATIVE_INFINITY };
    }
    if (existing.timestamps.length > limit) resize(existing, limit);
    return existing;
  }

  /** Drops timestamps outside the window (now - windowMs, now]. */
  #dropExpired(log: Log, now: number): void {
    while (log.count > 0 && this.#oldest(log) <= now - this.#windowMs) log.count -= 1;
  }

  #oldest(log: Log): number {
    return this.#nthNewest(log, log.count);
  }

  #nthNewest(log: Log, n: number): number {
    const length = log.timestamps.length;
    return log.timestamps[(log.next - n + length) % length] ?? 0;
  }

  /** Deletes callers without requests in the window, and the least recently used ones above `callersMax`. */
  #evict(now: number): void {
    for (const [caller, log] of this.#logs) {
      if (log.lastAt > now - this.#windowMs && this.#logs.size <= this.#callersMax) return;
      this.#logs.delete(caller);
    }
  }
}

/** Moves the newest timestamps into a ring buffer of another length. */
function resize(log: Log, length: number): void {
  const count = Math.min(log.count, length);
  const resized = new Float64Array(length);
  const { timestamps, next } = log;
  for (let index = 0; index < count; index++) {
    resized[index] = timestamps[(next - count + index + timestamps.length) % timestamps.length] ?? 0;
  }
  log.timestamps = resized;
  log.next = count % length;
  log.count = count;
}
