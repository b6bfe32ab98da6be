import { SLOW_MS } from "../../../domain/webhook-limits.ts";

/** Measures how fast a receiver answers. */
export class ReceiverLatency {
  /**
   * Average duration of the requests in milliseconds, without their waits for a slot of the host. The last attempt
   * counts half, the one before a quarter, and so on. Null before the first attempt has ended.
   */
  #averageMs: number | null = null;
  /** Running attempts that have run for more than a second. */
  #lateAttempts = 0;

  get isSlow(): boolean {
    return (this.#averageMs ?? 0) > SLOW_MS || this.#lateAttempts > 0;
  }

  /** Whether no attempt has ended or run for `SLOW_MS` yet. */
  get isUnknown(): boolean {
    return this.#averageMs === null && this.#lateAttempts === 0;
  }

  record(durationMs: number): void {
    this.#averageMs = ((this.#averageMs ?? 0) + durationMs) / 2;
  }

  /** Counts an attempt that has run for `SLOW_MS`. Returns a function to call once, at its end. */
  countLate(): () => void {
    this.#lateAttempts += 1;
    return () => {
      this.#lateAttempts -= 1;
    };
  }
}
