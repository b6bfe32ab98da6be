import type { EventType } from "../../../event-log/index.ts";
import type { DeliveryFailure } from "../../../ports/webhook-out.ts";

/** Bus topic that announces new, changed and released webhooks. */
export const WEBHOOKS_TOPIC = "webhooks";

/** The fields of a webhook that its customer can read. */
export type Webhook = {
  readonly webhookId: string;
  readonly url: string;
  readonly events: readonly EventType[];
  readonly enabled: boolean;
  readonly failureCount: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
};

/** Consecutive failed attempts. */
export type FailureStreak = {
  readonly count: number;
  /** Time of the first failure in Unix milliseconds; null without failures. */
  readonly since: number | null;
  /** Time of the last failure in Unix milliseconds; null without failures. */
  readonly lastAt: number | null;
};

/** The encrypted secrets of a webhook, bound to its id. */
export type SealedSecrets = {
  readonly sealedSecret: string;
  /** Null if the secret was never replaced. */
  readonly sealedPreviousSecret: string | null;
  /** Unix milliseconds until which deliveries are also signed with the previous secret. */
  readonly previousSecretUntil: number | null;
};

export interface DeliveryTarget extends SealedSecrets {
  readonly webhookId: string;
  readonly customerId: string;
  readonly url: string;
  readonly events: readonly EventType[];
  readonly revision: number;
  readonly streak: FailureStreak;
  /** All events up to this id were attempted or are of other types. */
  readonly position: number;
}

export type DeliveryStatus = "delivered" | "retrying" | "failed" | "canceled";

export type DeliveryMessage = {
  readonly eventId: number;
  readonly eventType: EventType;
  readonly body: string;
  /** Number of attempts so far. */
  readonly attempts: number;
  /** Unix milliseconds; null before the first attempt. */
  readonly firstAttemptAt: number | null;
};

/** The state of a delivery after an attempt. */
export type Delivery = {
  readonly eventId: number;
  readonly eventType: EventType;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly firstAttemptAt: number;
  readonly lastAttemptAt: number;
  readonly responseStatus: number | null;
  readonly responseHead: string | null;
  /** Why the last attempt got no response; null if it got a response. */
  readonly failure: DeliveryFailure | null;
  readonly latencyMs: number;
  /** Unix milliseconds; null unless the status is `retrying`. */
  readonly nextAttemptAt: number | null;
};
