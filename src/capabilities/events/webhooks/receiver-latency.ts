import { SLOW_ATTEMPT_MS } from "../../../domain/webhook-limits.ts";

/** Measures the response time of a receiver. */
export class ReceiverLatency {
  /**
   * Exponentially weighted average duration of the requests in milliseconds, without waits for a slot of the host. The
   * last attempt has weight 1/2, the previous one 1/4, and so on. Null before the first attempt has ended.
   */
  #averageMs: number | null = null;
  /** Number of running attempts that started more than a second ago. */
  #lateAttempts = 0;

  get isSlow(): boolean {
    return (this.#averageMs ?? 0) > SLOW_ATTEMPT_MS || this.#lateAttempts > 0;
  }

  /** Whether no attempt has ended yet or run for `SLOW_ATTEMPT_MS`. */
  get isUnknown(): boolean {
    return this.#averageMs === null && this.#lateAttempts === 0;
  }

  record(durationMs: number): void {
    this.#averageMs = ((this.#averageMs ?? 0) + durationMs) / 2;
  }

  /** Counts an attempt that has run for `SLOW_ATTEMPT_MS`. Returns a function to call once, at its end. */
  countLate(): () => void {
    this.#lateAttempts += 1;
    return () => {
      this.#lateAttempts -= 1;
    };
  }
}
