import type { VenueId } from "../domain/market.ts";

/** Event types, as sent to clients. */
export const EVENT_TYPES = ["price_shift", "whale_alert", "analysis_complete", "market_resolved"] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Payloads are sent to webhooks, whose receivers commonly reject bodies above 20 kB. */
export const EVENT_PAYLOAD_BYTES_MAX = 16 * 1024;
export const EVENT_KEY_LENGTH_MAX = 600;

/** An event that has no id yet. */
export interface NewEvent {
  readonly type: EventType;
  /** Idempotency key: while an event with this key is in the log, another one is ignored. */
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
  /** Ascending in the order in which events became visible; below 2^53. */
  readonly id: number;
}

/** Selects events. An undefined field matches all events; an empty list matches none. */
export interface EventFilter {
  readonly types?: readonly EventType[];
  readonly markets?: readonly { readonly venue: VenueId; readonly marketId: string }[];
}

/** Events after a position, sorted by id. */
export interface EventPage {
  readonly events: readonly LoggedEvent[];
  /** Last id that was scanned. All matching events up to it are in `events`; continue from here. */
  readonly through: number;
  /** Events after the requested position were deleted, or the position was never assigned. Report it to the reader. */
  readonly hasGap: boolean;
  /** Id of the latest event in the log at the time of the read. */
  readonly latestId: number;
}
