import type { Plan } from "../../../domain/plan.ts";
import { EVENT_TYPES, type EventType } from "../../../event-log/index.ts";

/** Maximum number of open streams of one key, of one address block, and of the process. */
export interface StreamLimits {
  readonly perKey: number;
  readonly perAddress: number;
  readonly total: number;
}

export const STREAM_LIMITS: StreamLimits = { perKey: 5, perAddress: 20, total: 12_000 };

/** The events that a stream receives. */
export interface StreamFilter {
  /** Set of event types as bits, see `bitOf`. */
  readonly types: number;
  /** Names of markets, see `marketNameOf`; null for all events, including those without a market. */
  readonly markets: readonly string[] | null;
}

/** A request for a stream. */
export interface StreamRequest {
  /** Counts against the limit per key: the id of the API key, or of a caller without one. */
  readonly caller: string;
  /** The key to check again while the stream is open; null for callers without an API key. */
  readonly key: { readonly keyId: string; readonly plan: Plan } | null;
  /** Address of the client. */
  readonly address: string;
  readonly filter: StreamFilter;
  /** Id of the last event that the client has received; Infinity if above 2^53. If null, the stream begins with the next event. */
  readonly lastEventId: number | null;
}

/** Returns the bit of an event type in a set of types. */
export const bitOf = (type: EventType): number => 1 << EVENT_TYPES.indexOf(type);

export const typesOf = (types: readonly EventType[]): number => types.reduce((set, type) => set | bitOf(type), 0);

export const marketNameOf = (venue: string, marketId: string): string => `${venue}/${marketId}`;
