import type { LimitDecision } from "../domain/metering.ts";

/** A sliding log of requests shared by several nodes: no window of time contains more requests than the limit. */
export interface SharedLimitLog {
  /**
   * Counts one request of `caller` if `limit` allows it, by the clock of the log's server. Rejects soon if the log is
   * unavailable; the request may be counted anyway.
   *
   * @param caller  at most 128 characters
   * @param limit   requests per window, at least 1
   */
  take(caller: string, limit: number): Promise<LimitDecision>;
  close(): void;
}
