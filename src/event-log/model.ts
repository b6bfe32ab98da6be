import type { VenueId } from "../domain/market.ts";
import type { MarketRef } from "../domain/market-name.ts";

/** Event types in webhook and stream messages. */
export const EVENT_TYPES = ["price_shift", "whale_alert", "analysis_complete", "market_resolved"] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Webhook receivers commonly reject bodies above 20 kB. */
export const EVENT_PAYLOAD_BYTES_MAX = 16 * 1024;
export const EVENT_KEY_LENGTH_MAX = 600;

/** An event to be appended; the log assigns its id. */
export interface NewEvent {
  readonly type: EventType;
  /** Idempotency key: an event is ignored if the log contains an event with the same key. */
  readonly key: string;
  /** Unix milliseconds. */
  readonly occurredAt: number;
  /** Venue and id of the related market; both null if the event has none. */
  readonly venue: VenueId | null;
  readonly marketId: string | null;
  /** Fields sent to clients in addition to `id`, `type` and `timestamp`. */
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface LoggedEvent extends Omit<NewEvent, "key"> {
  /** Ascending in the order in which events become visible; below 2^53. */
  readonly id: number;
}

/** Selects events. An undefined field matches all events; an empty list matches none. */
export interface EventFilter {
  readonly types?: readonly EventType[];
  readonly markets?: readonly MarketRef[];
}

/** Result of a read: events sorted by id. */
export interface EventPage {
  readonly events: readonly LoggedEvent[];
  /** Last id that was scanned. Pass it as `after` to the next read. */
  readonly through: number;
  /** Whether events after the requested id were deleted, or the requested id was never assigned. */
  readonly hasGap: boolean;
  /** Id of the latest event in the log at the time of the read. */
  readonly latestId: number;
}
