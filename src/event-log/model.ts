import type { VenueId } from "../domain/market.ts";

/** What can happen, as the wire spells it. */
export const EVENT_TYPES = ["price_shift", "whale_alert", "analysis_complete", "market_resolved"] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Payloads go to webhooks, whose receivers commonly refuse more than 20 kB. */
export const EVENT_PAYLOAD_BYTES_MAX = 16 * 1024;
export const EVENT_KEY_LENGTH_MAX = 600;

/** Something that happened, before the log has given it its id. */
export interface NewEvent {
  readonly type: EventType;
  /** Names this one happening: appended twice it is kept once, for as long as the log keeps it. */
  readonly key: string;
  /** Unix milliseconds. */
  readonly occurredAt: number;
  /** The market it is about, where it is about one. */
  readonly venue: VenueId | null;
  readonly marketId: string | null;
  /** The fields of its type beside `id`, `type` and `timestamp`, as the wire spells them. */
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface LoggedEvent extends Omit<NewEvent, "key"> {
  /** Rises with the order in which events became visible; below 2^53. */
  readonly id: number;
}

/** Which events a reader wants; what is left out is not asked for. An empty list wants none. */
export interface EventFilter {
  readonly types?: readonly EventType[];
  readonly markets?: readonly { readonly venue: VenueId; readonly marketId: string }[];
}

/** Events behind a position, in the order of their ids. */
export interface EventPage {
  readonly events: readonly LoggedEvent[];
  /** Nothing wanted lies between the position asked for and this id but `events`: the position to go on from. */
  readonly through: number;
  /** Events behind the position asked for are gone, or it was never given out: the reader must be told. */
  readonly hasGap: boolean;
  /** The last id of the whole log when this was read. */
  readonly latestId: number;
}
