import { EVENT_TYPES, type EventType, formatEvent, type LoggedEvent } from "../../../event-log/index.ts";
import { encodeUnpooled } from "../../../lib/json/unpooled-buffer.ts";

export interface StreamFilter {
  /** Set of event types as bits, see `eventTypeBit`. */
  readonly types: number;
  /** Names of markets, see `marketNameOf`; null for all events, including those without a market. */
  readonly markets: readonly string[] | null;
}

/** An event in the format of Server-Sent Events, encoded once for all clients. */
export interface Frame {
  readonly id: number;
  /** Bit of the event type, see `eventTypeBit`. */
  readonly typeBit: number;
  /** Name of the event's market; null if it has none. */
  readonly market: string | null;
  readonly bytes: Buffer;
}

/** Reconnection time that the server requests, milliseconds. */
const RETRY_MS = 3_000;

/** The first bytes of every stream. */
export const PREAMBLE = Buffer.from(`: ok\nretry: ${RETRY_MS}\n\n`);
/** A comment that keeps proxies from closing an idle connection. */
export const HEARTBEAT = Buffer.from(": keep-alive\n\n");
/** The last bytes of a stream whose key was revoked or whose plan has changed. */
export const KEY_CHANGED = Buffer.from(": the key or its plan has changed\n\n");

/** The last bytes of a stream that has lasted for its maximum duration. */
export const DURATION_REACHED = Buffer.from(": maximum duration reached\n\n");

/** Encodes an event. JSON escapes line breaks, so the text of an event cannot end its frame. */
export function encodeFrame(event: LoggedEvent): Frame {
  const { id, type, venue, marketId } = event;
  return {
    id,
    typeBit: eventTypeBit(type),
    market: venue === null || marketId === null ? null : marketNameOf(venue, marketId),
    bytes: encodeUnpooled(`id: ${id}\nevent: ${type}\ndata: ${formatEvent(event)}\n\n`),
  };
}

/** Encodes the event that reports a gap to a client. Its id is the position from which the stream continues. */
export const encodeReset = (position: number): Buffer =>
  Buffer.from(`id: ${position}\nevent: reset\ndata: {"id":"${position}","type":"reset"}\n\n`);

/** Encodes the reconnection time that a stopping server requests. @param retryMs  milliseconds */
export const encodeRetry = (retryMs: number): Buffer => Buffer.from(`retry: ${Math.round(retryMs)}\n\n`);

export function matchesFilter({ types, markets }: StreamFilter, { typeBit, market }: Frame): boolean {
  return (types & typeBit) !== 0 && (markets === null || (market !== null && markets.includes(market)));
}

export const eventTypeBit = (type: EventType): number => 1 << EVENT_TYPES.indexOf(type);

export const eventTypeSet = (types: readonly EventType[]): number =>
  types.reduce((set, type) => set | eventTypeBit(type), 0);

export const marketNameOf = (venue: string, marketId: string): string => `${venue}/${marketId}`;
