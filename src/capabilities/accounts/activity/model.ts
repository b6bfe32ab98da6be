import type { Tier } from "../../../domain/plan.ts";

/** Retention of usage by day: thirteen months, so that a month can be compared with the same month of last year. */
export const USAGE_RETENTION_DAYS = 396;
/** Recent requests are deleted after this time. */
export const REQUEST_RETENTION_DAYS = 7;
/** Maximum number of stored successful requests per customer, and also of stored failed requests. */
export const RECENT_REQUESTS_MAX = 100;

/** The requests of one customer with one key on one day. */
export interface DailyUsage {
  /** UTC, for example "2026-11-22". */
  readonly day: string;
  readonly keyId: string;
  /** All requests, including those that no quota counts. */
  readonly requests: number;
  /** Requests with a status of 400 or above. */
  readonly failed: number;
  /** Number of calls counted in the monthly quotas, by tier. */
  readonly counted: Readonly<Record<Tier, number>>;
}

/** A request as its customer sees it. Contains the pattern of the route instead of the path, and no query or body. */
export interface RecentRequest {
  readonly occurredAt: Date;
  readonly requestId: string;
  readonly method: string;
  /** For example `/v1/markets/:platform/:market_id`. */
  readonly route: string;
  readonly status: number;
  /** The error code of the response; null if it is successful. */
  readonly code: string | null;
  readonly durationMs: number;
  readonly keyId: string;
}

/** The requests of one customer with one key on one day, not yet stored. */
export interface UnwrittenUsage extends DailyUsage {
  readonly customerId: string;
}

export interface UnwrittenRequest extends RecentRequest {
  readonly customerId: string;
}

/** Usage and requests that are stored in one transaction. */
export interface ActivityBatch {
  readonly usage: readonly UnwrittenUsage[];
  readonly requests: readonly UnwrittenRequest[];
}
