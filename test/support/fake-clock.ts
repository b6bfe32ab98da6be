import { setImmediate as nextIteration } from "node:timers/promises";
import type { Clock } from "../../src/ports/clock.ts";

interface Timer {
  readonly dueAt: number;
  readonly order: number;
  readonly run: () => void;
}

/** Limit of fired timers per `advance`. More of them mean that a timer restarts itself without delay. */
const TIMERS_PER_ADVANCE_MAX = 100_000;

/**
 * A clock that advances only when a test advances it. `advance` fires due timers and sleeps in order, each at its due
 * time, and runs all pending promise callbacks before the next timer.
 */
export class FakeClock implements Clock {
  #monotonicMs = 0;
  /** Wall-clock time minus monotonic time. */
  #wallOffsetMs: number;
  #nextOrder = 0;
  readonly #timers = new Set<Timer>();

  /** @param startAt wall-clock time at monotonic 0, Unix milliseconds */
  constructor(startAt = Date.UTC(2026, 10, 21)) {
    this.#wallOffsetMs = startAt;
  }

  now(): number {
    return this.#wallOffsetMs + this.#monotonicMs;
  }

  monotonic(): number {
    return this.#monotonicMs;
  }

  setTimeout(callback: () => void, delayMs: number): () => void {
    const delay = Number.isFinite(delayMs) ? Math.max(0, delayMs) : 0;
    const timer: Timer = { dueAt: this.#monotonicMs + delay, order: this.#nextOrder++, run: callback };
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

  /** Milliseconds until the next timer, or null if there is no timer. */
  get nextInMs(): number | null {
    const next = this.#findNextTimer();
    return next === null ? null : next.dueAt - this.#monotonicMs;
  }

  /** Shifts the wall clock, as if the system time were changed. Monotonic time and timers do not change. */
  jumpWallClock(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  /** Runs pending promise callbacks without advancing time. */
  async settle(): Promise<void> {
    await nextIteration();
  }

  async advance(byMs: number): Promise<void> {
    const until = this.#monotonicMs + byMs;
    await this.settle();
    for (let fired = 0; ; fired++) {
      const timer = this.#findNextTimer();
      if (timer === null || timer.dueAt > until) break;
      if (fired >= TIMERS_PER_ADVANCE_MAX) throw new Error("a timer restarts itself without delay");
      this.#timers.delete(timer);
      this.#monotonicMs = Math.max(this.#monotonicMs, timer.dueAt);
      timer.run();
      await this.settle();
    }
    this.#monotonicMs = until;
    await this.settle();
  }

  /** Advances until `promise` settles, at most `limitMs`, and returns its result. */
  async until<Value>(promise: Promise<Value>, limitMs = 600_000): Promise<Value> {
    let isSettled = false;
    const markSettled = () => {
      isSettled = true;
    };
    promise.then(markSettled, markSettled);
    const deadline = this.#monotonicMs + limitMs;
    for (;;) {
      await this.settle();
      if (isSettled) return promise;
      const nextInMs = this.nextInMs;
      if (nextInMs === null || this.#monotonicMs + nextInMs > deadline) {
        throw new Error(`the promise did not settle within ${limitMs} ms of fake time, or no timer is left`);
      }
      await this.advance(nextInMs);
    }
  }

  #findNextTimer(): Timer | null {
    let earliest: Timer | null = null;
    for (const timer of this.#timers) {
      if (
        earliest === null ||
        timer.dueAt < earliest.dueAt ||
        (timer.dueAt === earliest.dueAt && timer.order < earliest.order)
      ) {
        earliest = timer;
      }
    }
    return earliest;
  }
}
