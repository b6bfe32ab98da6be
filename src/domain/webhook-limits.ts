/** All limits of webhooks and of requests to receivers, in one file, so that they can be compared (docs/limits.md). */
import { DAY_MS, HOUR_MS } from "../lib/durations.ts";

// Webhooks of a customer
export const WEBHOOKS_PER_CUSTOMER_MAX = 10;
export const WEBHOOK_URL_LENGTH_MAX = 2_048;
export const WEBHOOK_SECRET_LENGTH_MAX = 256;
/** Time for which deliveries are also signed with the replaced secret. */
export const SECRET_OVERLAP_MS = DAY_MS;
/** Minimum time between two test deliveries of a webhook. */
export const TEST_DELIVERY_INTERVAL_MS = 10_000;
export const DELIVERIES_PER_PAGE_MAX = 100;
/** Retention of deliveries that wait for no retry, in days. */
export const DELIVERY_RETENTION_DAYS = 3;

// Attempts of one webhook
/** Maximum duration of an attempt. */
export const ATTEMPT_MS_MAX = 10_000;
/** Delays before the retries, milliseconds. */
export const RETRY_DELAYS_MS: readonly number[] = [
  ...[5, 5 * 60, 30 * 60].map((seconds) => seconds * 1_000),
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];
/** Maximum number of concurrent attempts of a webhook, and how many of them may be retries. */
export const CONCURRENT_ATTEMPTS_MAX = 4;
export const CONCURRENT_RETRIES_MAX = 2;
/**
 * The next event is sent after the responses to all earlier events, or this time after the previous event was sent. A
 * slow response therefore delays later events only a little, and events still arrive in order.
 */
export const NEXT_EVENT_AFTER_MS = 250;
/** An attempt is slow above this duration, a receiver if its average duration is above it. */
export const SLOW_ATTEMPT_MS = 1_000;
/** Maximum age of a node's copy of a webhook's state. After this time, no node uses the state before a change. */
export const OWNERSHIP_CHECK_MS = 50;
/** Maximum number of events sent after an event whose attempt has not ended. Their results stay in memory. */
export const EVENTS_IN_FLIGHT_MAX = 1_000;
/** Maximum number of unwritten results. First attempts wait at this number. */
export const UNWRITTEN_RESULTS_MAX = 2_000;
/** A webhook is disabled after its attempts have failed for this time. */
export const DISABLE_AFTER_MS = 5 * 24 * HOUR_MS;
/** Maximum time between two failures of one streak. Longer than the longest delay between two attempts. */
export const FAILURE_STREAK_GAP_MS = 30 * HOUR_MS;
/** Maximum delay of a retry that a receiver can request. */
export const RETRY_AFTER_MS_MAX = 24 * HOUR_MS;
/** A `Retry-After` delays all deliveries of the webhook for at most this time. */
export const RETRY_AFTER_PAUSE_MS_MAX = HOUR_MS;

// Attempts and events of one node. One customer gets at most half of the attempts of each kind
/** Maximum concurrent attempts to receivers whose last attempt succeeded in time. */
export const HEALTHY_ATTEMPTS_MAX = 256;
/** Maximum concurrent attempts to receivers whose average response time is above a second. */
export const SLOW_ATTEMPTS_MAX = 128;
/** Maximum concurrent attempts to healthy receivers that have run for more than a second. */
export const LATE_ATTEMPTS_MAX = 512;
/** Maximum concurrent attempts to receivers whose last attempt failed. */
export const FAILING_ATTEMPTS_MAX = 256;
/** Maximum number of concurrent reads of the event log and of due retries. */
export const CONCURRENT_READS_MAX = 4;
/** Maximum number of recent events in memory, and maximum total characters of their bodies. */
export const RECENT_EVENTS_MAX = 5_000;
export const RECENT_EVENT_CHARACTERS_MAX = 16 * 1024 * 1024;

// Requests to receivers
/** Slots for requests. They allow 1,000 deliveries per second to a host that responds within 16 ms. */
export const REQUEST_SLOTS = { total: 512, perHost: 16, waiting: 4_096, waitingPerHost: 512 } as const;
/** Slots for requests to slow receivers. */
export const SLOW_REQUEST_SLOTS = { total: 128, perHost: 16, waiting: 1_024, waitingPerHost: 256 } as const;
/** Maximum total wait for the rate limit of the host and for a slot. Equal to the maximum duration of an attempt. */
export const REQUEST_WAIT_MS_MAX = 10_000;
/**
 * A request to a receiver that is not known to be slow frees its slot after this time and continues. A long request
 * therefore delays other requests to the host for at most this time.
 */
export const SLOT_HOLD_MS_MAX = 100;
/**
 * Maximum number of waiting and running requests, in total and per customer. The webhooks of a customer have at most 40
 * concurrent attempts.
 */
export const OPEN_REQUESTS_MAX = 2_048;
export const OPEN_REQUESTS_PER_CUSTOMER_MAX = 128;
/** Maximum bytes of a response's headers, of its body that is read, and of its body that is stored. */
export const RESPONSE_HEADER_BYTES_MAX = 16 * 1_024;
export const RESPONSE_BODY_BYTES_MAX = 16 * 1_024;
export const STORED_BODY_BYTES_MAX = 1_024;
/** Rate limit of an IP address, as a multiple of the limit of a host name. Several hosts can share an address. */
export const ADDRESS_RATE_FACTOR = 4;
/**
 * Share of a host name's rate for its slow receivers, and the same share for its failing receivers; at least one
 * request per second each. Healthy receivers get at least the rest.
 */
export const UNHEALTHY_RATE_SHARE = 0.25;
/**
 * Maximum number of hosts and addresses with requests in one second, which limits the memory to about 10 MB. Requests
 * to further hosts are rejected.
 */
export const RATE_BUCKETS_MAX = 65_536;
/**
 * Maximum number of requests that wait for a token in one queue of a host name, in total and per customer. Further
 * requests are rejected.
 */
export const WAITING_REQUESTS_PER_HOST_MAX = 256;
export const WAITING_REQUESTS_PER_CUSTOMER_MAX = 4;
/** Maximum number of consecutive tokens for a customer that used less than its share, as for a burst of events. */
export const CUSTOMER_TOKEN_CREDIT = 50;
