import type { EventType } from "../../../event-log/index.ts";
import { DAY_MS, HOUR_MS } from "../../../lib/durations.ts";
import type { DeliveryFailure } from "../../../ports/webhook-out.ts";

export const WEBHOOKS_PER_CUSTOMER_MAX = 10;
export const URL_LENGTH_MAX = 2_048;
export const SECRET_LENGTH_MAX = 256;
/** Time for which a replaced secret still signs. */
export const SECRET_OVERLAP_MS = DAY_MS;
/** Time between two test deliveries of a webhook. */
export const TEST_INTERVAL_MS = 10_000;
/** Longest time of an attempt. */
export const ATTEMPT_MS_MAX = 10_000;
export const DELIVERIES_PER_PAGE_MAX = 100;
/** Days for which deliveries that wait for no retry are kept. */
export const DELIVERY_DAYS = 3;
/** Bus topic that announces new, changed and released webhooks. */
export const WEBHOOKS_TOPIC = "webhooks";

/** Delays before the retries, milliseconds. */
export const RETRY_DELAYS_MS: readonly number[] = [
  ...[5, 5 * 60, 30 * 60].map((seconds) => seconds * 1_000),
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];

/** What the customer sees of a webhook. */
export interface Webhook {
  readonly webhookId: string;
  readonly url: string;
  readonly events: readonly EventType[];
  readonly enabled: boolean;
  readonly failureCount: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** Failed attempts without a success in between. */
export interface FailureStreak {
  readonly count: number;
  /** Time of the first failure in Unix milliseconds; null without failures. */
  readonly since: number | null;
  /** Time of the last failure in Unix milliseconds; null without failures. */
  readonly lastAt: number | null;
}

/** The stored secrets of a webhook, sealed with its id as owner. */
export interface SealedSecrets {
  readonly sealedSecret: string;
  /** Null if the secret was never replaced. */
  readonly sealedPreviousSecret: string | null;
  /** Unix milliseconds until which the previous secret also signs. */
  readonly previousSecretUntil: number | null;
}

/** What the node that delivers needs to know of a webhook. */
export interface Target extends SealedSecrets {
  readonly webhookId: string;
  readonly customerId: string;
  readonly url: string;
  readonly events: readonly EventType[];
  readonly revision: number;
  readonly streak: FailureStreak;
  /** All events up to this id were attempted once, or are of other types. */
  readonly position: number;
}

export type DeliveryStatus = "delivered" | "retrying" | "failed" | "canceled";

/** An event that is sent to a webhook. */
export interface Message {
  readonly eventId: number;
  readonly eventType: EventType;
  readonly body: string;
  /** Attempts so far. */
  readonly attempts: number;
  /** Unix milliseconds; null before the first attempt. */
  readonly firstAttemptAt: number | null;
}

/** The state of a delivery after an attempt. */
export interface Delivery {
  readonly eventId: number;
  readonly eventType: EventType;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly firstAttemptAt: number;
  readonly lastAttemptAt: number;
  readonly responseStatus: number | null;
  readonly responseHead: string | null;
  /** Why the last attempt got no response; null if it got one. */
  readonly failure: DeliveryFailure | null;
  readonly latencyMs: number;
  /** Unix milliseconds; null unless the status is `retrying`. */
  readonly nextAttemptAt: number | null;
}
