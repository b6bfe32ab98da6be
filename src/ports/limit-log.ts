import type { LimitDecision } from "../domain/metering.ts";

/**
 * A sliding-window counter of requests shared by several nodes: no time window contains more requests than the limit.
 */
export interface SharedLimitLog {
  /**
   * Counts one request of `caller` if `limit` allows the request, by the server's clock. Rejects after a short timeout
   * if the server is unavailable; the request may be counted nevertheless.
   *
   * @param caller  at most 128 characters
   * @param limit   requests per window, at least 1
   */
  take(caller: string, limit: number): Promise<LimitDecision>;
  /** Returns the decision of `take` without counting a request. Rejects under the same conditions. */
  peek(caller: string, limit: number): Promise<LimitDecision>;
  close(): void;
}
