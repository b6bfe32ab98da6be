import { setImmediate as nextIteration } from "node:timers/promises";
import type { Clock } from "../../src/ports/clock.ts";

interface Timer {
  readonly dueAt: number;
  readonly order: number;
  readonly run: () => void;
}

/** More timers than this in one `advance` mean that a timer restarts itself without delay. */
const TIMERS_PER_ADVANCE_MAX = 100_000;

/**
 * A clock that advances only when a test advances it. `advance` fires due timers and sleeps in order, each at its own
 * time, and runs all pending promise callbacks before the next one.
 */
export class FakeClock implements Clock {
  #monotonic = 0;
  /** Wall-clock time minus monotonic time. */
  #offset: number;
  #order = 0;
  readonly #timers = new Set<Timer>();

  /** @param startAt wall-clock time at monotonic 0, Unix milliseconds */
  constructor(startAt = Date.UTC(2026, 10, 21)) {
    this.#offset = startAt;
  }

  now(): number {
    return this.#offset + this.#monotonic;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  setTimeout(callback: () => void, delayMs: number): () => void {
    const delay = Number.isFinite(delayMs) ? Math.max(0, delayMs) : 0;
    const timer: Timer = { dueAt: this.#monotonic + delay, order: this.#order++, run: callback };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      const onAbort = () => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = this.setTimeout(() => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      }, delayMs);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  yieldToEventLoop(): Promise<void> {
    return Promise.resolve();
  }

  /** Number of timers and sleeps that have not fired. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Milliseconds until the next timer; null if there is none. */
  get nextInMs(): number | null {
    const next = this.#next();
    return next === null ? null : next.dueAt - this.#monotonic;
  }

  /** Shifts the wall clock, as if the machine's time was set. Monotonic time and timers do not change. */
  jumpWallClock(byMs: number): void {
    this.#offset += byMs;
  }

  /** Runs pending promise callbacks without advancing time. */
  async settle(): Promise<void> {
    await nextIteration();
  }

  async advance(byMs: number): Promise<void> {
    const until = this.#monotonic + byMs;
    await this.settle();
    for (let fired = 0; ; fired++) {
      const timer = this.#next();
      if (timer === null || timer.dueAt > until) break;
      if (fired >= TIMERS_PER_ADVANCE_MAX) throw new Error("a timer restarts itself without delay");
      this.#timers.delete(timer);
      this.#monotonic = Math.max(this.#monotonic, timer.dueAt);
      timer.run();
      await this.settle();
    }
    this.#monotonic = until;
    await this.settle();
  }

  /** Advances until `promise` settles, at most `limitMs`, and returns its result. */
  async until<Value>(promise: Promise<Value>, limitMs = 600_000): Promise<Value> {
    let isSettled = false;
    const markSettled = () => {
      isSettled = true;
    };
    promise.then(markSettled, markSettled);
    const limit = this.#monotonic + limitMs;
    for (;;) {
      await this.settle();
      if (isSettled) return promise;
      const nextInMs = this.nextInMs;
      if (nextInMs === null || this.#monotonic + nextInMs > limit) {
        throw new Error(`the promise did not settle within ${limitMs} ms of fake time, or no timer is left`);
      }
      await this.advance(nextInMs);
    }
  }

  #next(): Timer | null {
    let first: Timer | null = null;
    for (const timer of this.#timers) {
      if (first === null || timer.dueAt < first.dueAt || (timer.dueAt === first.dueAt && timer.order < first.order)) {
        first = timer;
      }
    }
    return first;
  }
}
