/**
 * Limits of webhooks. The deliveries and the sender of requests share this file, so that the limits can be compared
 * (docs/limits.md).
 */
import { DAY_MS, HOUR_MS } from "../lib/durations.ts";

// Webhooks of a customer
export const WEBHOOKS_PER_CUSTOMER_MAX = 10;
export const WEBHOOK_URL_LENGTH_MAX = 2_048;
export const WEBHOOK_SECRET_LENGTH_MAX = 256;
/** Time for which a replaced secret still signs. */
export const SECRET_OVERLAP_MS = DAY_MS;
/** Time between two test deliveries of a webhook. */
export const TEST_INTERVAL_MS = 10_000;
export const DELIVERIES_PER_PAGE_MAX = 100;
/** Days for which deliveries that wait for no retry are kept. */
export const DELIVERY_DAYS = 3;

// Attempts of one webhook
/** Longest time of an attempt. */
export const ATTEMPT_MS_MAX = 10_000;
/** Delays before the retries, milliseconds. */
export const RETRY_DELAYS_MS: readonly number[] = [
  ...[5, 5 * 60, 30 * 60].map((seconds) => seconds * 1_000),
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];
/** Attempts at the same time, and those of them that may be retries. */
export const ATTEMPTS_MAX = 4;
export const RETRIES_MAX = 2;
/**
 * The next event is sent when all earlier ones were answered, or this time after the previous one was sent. So a slow
 * answer delays later events little, and they still arrive in order.
 */
export const OVERLAP_AFTER_MS = 250;
/** Attempts are slow above this duration, and receivers if their average is above it. */
export const SLOW_MS = 1_000;
/** Time for which the state of a webhook is used. After it, no node acts by the state before a change. */
export const OWNERSHIP_CHECK_MS = 50;
/** Events that may be sent after one that has not ended. Their results are kept in memory until it ends. */
export const UNSETTLED_MAX = 1_000;
/** First attempts wait while this many results are not written. */
export const UNWRITTEN_MAX = 2_000;
/** A webhook whose attempts have failed for this time is disabled. */
export const DISABLE_AFTER_MS = 5 * 24 * HOUR_MS;
/** Failures further apart belong to different streaks. Longer than the longest delay between two attempts. */
export const STREAK_GAP_MS = 30 * HOUR_MS;
/** Longest delay of a retry that a receiver can ask for. */
export const RETRY_AFTER_MS_MAX = 24 * HOUR_MS;
/** A `Retry-After` delays all deliveries of the webhook for at most this time. */
export const PAUSE_MS_MAX = HOUR_MS;

// Attempts and events of one node. One customer uses at most half of the attempts of each kind
/** Attempts to receivers whose last attempt succeeded in time. */
export const HEALTHY_ATTEMPTS_MAX = 256;
/** Attempts to receivers whose average response time is above a second. */
export const SLOW_ATTEMPTS_MAX = 128;
/** Attempts to healthy receivers that have run for more than a second. */
export const LATE_ATTEMPTS_MAX = 512;
/** Attempts to receivers whose last attempt failed. */
export const FAILING_ATTEMPTS_MAX = 256;
/** Reads of the log and of retries at the same time. */
export const READS_MAX = 4;
/** Newest events in memory, and the characters of their bodies. */
export const RECENT_EVENTS_MAX = 5_000;
export const RECENT_CHARACTERS_MAX = 16 * 1024 * 1024;

// Requests to receivers
/** Slots of requests: 1,000 deliveries per second to one host that responds within 16 ms. */
export const REQUEST_SLOTS = { total: 512, perHost: 16, waiting: 4_096, waitingPerHost: 512 } as const;
/** Slots of requests to receivers that answer slowly. */
export const SLOW_REQUEST_SLOTS = { total: 128, perHost: 16, waiting: 1_024, waitingPerHost: 256 } as const;
/** Longest wait for the rate of the host and for a slot, together. As long as an attempt. */
export const TURN_WAIT_MS_MAX = 10_000;
/**
 * A request to a receiver that is not known to be slow frees its slot after this time and continues. So a long request
 * delays others to the same host for at most this time.
 */
export const SLOT_MS_MAX = 100;
/**
 * Requests that wait or run, in total and of one customer. The webhooks of a customer have at most 40 attempts at a
 * time.
 */
export const RUNNING_MAX = 2_048;
export const RUNNING_PER_CUSTOMER_MAX = 128;
/** Bytes of the headers of a response, of its body that are read, and of its body that are kept. */
export const HEADER_BYTES_MAX = 16 * 1_024;
export const BODY_BYTES_MAX = 16 * 1_024;
export const BODY_HEAD_BYTES_MAX = 1_024;
/** Several hosts can share an address, so it may receive this multiple of the limit of a host name. */
export const ADDRESS_FACTOR = 4;
/**
 * Share of the rate of a host name that its slow receivers get, and that its failing ones get, but at least one request
 * per second each. Healthy receivers get at least the rest.
 */
export const UNHEALTHY_SHARE = 0.25;
/** Limits the memory to about 10 MB. Further hosts and addresses in one second are refused. */
export const BUCKETS_MAX = 65_536;
/**
 * Requests that wait for a token in one queue of a host name, in total and of one customer. Further ones are refused.
 */
export const WAITING_PER_HOST_MAX = 256;
export const WAITING_PER_CUSTOMER_MAX = 4;
/**
 * Tokens that a customer may get in a row if it used less than its share before, for example for the events of one
 * moment.
 */
export const CUSTOMER_CREDIT = 50;
