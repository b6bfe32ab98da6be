import type { LimitDecision } from "../domain/metering.ts";

/** A sliding log of requests that several nodes share: no window, wherever it begins, holds more over all of them. */
export interface SharedLimitLog {
  /**
   * Takes one request of `caller` where `limit` allows it, by the clock of whoever keeps the log.
   *
   * @param caller  at most 128 characters
   * @param limit   requests a window, at least 1
   * @returns rejects, soon, where the log cannot be reached: the request may have been counted all the same
   */
  take(caller: string, limit: number): Promise<LimitDecision>;
  close(): void;
}
