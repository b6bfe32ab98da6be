import type { LimitDecision } from "../../domain/metering.ts";

interface Log {
  /** A ring of the instants of the last accepted requests; `next` is where the oldest one stands once it is full. */
  accepted: Float64Array;
  next: number;
  count: number;
  lastAt: number;
}

const CALLERS_MAX = 100_000;
/** Most callers ask little: a log begins this short and grows to what is used. */
const FIRST_SIZE = 8;

/**
 * A limit of requests per window for each caller, exactly: no window of that length, wherever it begins, holds more.
 * Memory is one number an accepted request, for callers of the last window only; beyond `callersMax` the one who has been
 * quiet for longest is forgotten. Times are monotonic milliseconds given by the caller of this.
 */
export class SlidingLog {
  readonly #windowMs: number;
  readonly #callersMax: number;
  /** Quiet longest first. */
  readonly #logs = new Map<string, Log>();

  constructor(options: { readonly windowMs: number; readonly callersMax?: number }) {
    this.#windowMs = options.windowMs;
    this.#callersMax = options.callersMax ?? CALLERS_MAX;
  }

  get size(): number {
    return this.#logs.size;
  }

  /** Takes one request of `caller` where `limit` allows it; a refused one is not counted. */
  take(caller: string, limit: number, now: number): LimitDecision {
    if (limit <= 0) return { isAllowed: false, remaining: 0, waitMs: this.#windowMs };
    const log = this.#logOf(caller, limit);
    this.#forget(log, now);
    if (log.count >= limit) return { isAllowed: false, remaining: 0, waitMs: this.#oldest(log) + this.#windowMs - now };
    if (log.count === log.accepted.length) resize(log, Math.min(limit, 2 * log.count));
    log.accepted[log.next] = now;
    log.next = (log.next + 1) % log.accepted.length;
    log.count += 1;
    log.lastAt = now;
    this.#logs.delete(caller);
    this.#logs.set(caller, log);
    this.#makeRoom(now);
    return { isAllowed: true, remaining: limit - log.count, waitMs: this.#oldest(log) + this.#windowMs - now };
  }

  /** Milliseconds until one request of `caller` would be allowed, 0 where one is; takes none. */
  waitMs(caller: string, limit: number, now: number): number {
    const log = this.#logs.get(caller);
    if (log === undefined) return 0;
    this.#forget(log, now);
    return log.count < limit ? 0 : this.#newest(log, limit) + this.#windowMs - now;
  }

  /** Forgets the newest request of `caller`: it was refused elsewhere. */
  giveBack(caller: string): void {
    const log = this.#logs.get(caller);
    if (log === undefined || log.count === 0) return;
    log.count -= 1;
    log.next = (log.next - 1 + log.accepted.length) % log.accepted.length;
  }

  /** The caller's log, never longer than the limit is now: another plan keeps what was used under the old one. */
  #logOf(caller: string, limit: number): Log {
    const known = this.#logs.get(caller);
    if (known === undefined) {
      const size = Math.min(limit, FIRST_SIZE);
      return { accepted: new Float64Array(size), next: 0, count: 0, lastAt: Number.NEGATIVE_INFINITY };
    }
    if (known.accepted.length > limit) resize(known, limit);
    return known;
  }

  /** Drops what has left the window (at - window, at]. */
  #forget(log: Log, now: number): void {
    while (log.count > 0 && this.#oldest(log) <= now - this.#windowMs) log.count -= 1;
  }

  #oldest(log: Log): number {
    return this.#newest(log, log.count);
  }

  /** The instant of the oldest of the `count` newest requests. */
  #newest(log: Log, count: number): number {
    const size = log.accepted.length;
    return log.accepted[(log.next - count + size) % size] ?? 0;
  }

  #makeRoom(now: number): void {
    for (const [caller, log] of this.#logs) {
      if (log.lastAt > now - this.#windowMs && this.#logs.size <= this.#callersMax) return;
      this.#logs.delete(caller);
    }
  }
}

/** Moves the newest instants into a ring of another size. */
function resize(log: Log, size: number): void {
  const kept = Math.min(log.count, size);
  const moved = new Float64Array(size);
  const { accepted, next } = log;
  for (let index = 0; index < kept; index++) {
    moved[index] = accepted[(next - kept + index + accepted.length) % accepted.length] ?? 0;
  }
  log.accepted = moved;
  log.next = kept % size;
  log.count = kept;
}
