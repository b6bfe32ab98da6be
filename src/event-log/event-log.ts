import { chunksOf } from "../lib/chunks.ts";
import type { Bus } from "../ports/bus.ts";
import type { Database, Transaction } from "../ports/database.ts";
import {
  EVENT_KEY_LENGTH_MAX,
  EVENT_PAYLOAD_BYTES_MAX,
  EVENT_TYPES,
  type EventFilter,
  type EventPage,
  type NewEvent,
} from "./model.ts";
import { advanceDropped, deleteEventsThrough, insertEvents, selectEventsAfter, selectHead } from "./queries.ts";

/** The bus topic on which `announce` tells that the log has grown. */
export const EVENTS_TOPIC = "events";
const EVENTS_PER_READ_MAX = 1_000;
const EVENTS_PER_STATEMENT_MAX = 1_000;
const MARKETS_PER_FILTER_MAX = 1_000;
const DELETE_ROWS_MAX = 5_000;
/** Rows beyond this wait for the next run; one run must not hold the store for minutes. */
const DELETE_ROUNDS_MAX = 200;

/**
 * Appends to the log inside the transaction of what the events tell of: both are kept or neither. Call it last, because
 * from here to the commit every other appender waits. Gives how many were new; one whose key is known is left out, so
 * a repeated transaction tells nothing twice.
 *
 * Throws `RangeError` for an event that is out of bounds (`model.ts`).
 */
export async function appendEvents(transaction: Transaction, events: readonly NewEvent[]): Promise<number> {
  const rows = events.map((event) => ({ ...event, payload: encodePayload(event) }));
  let added = 0;
  for (const chunk of chunksOf(rows, EVENTS_PER_STATEMENT_MAX)) added += await insertEvents(transaction, chunk);
  return added;
}

function encodePayload({ type, key, payload }: NewEvent): string {
  if (!EVENT_TYPES.includes(type)) throw new RangeError(`no such type of event: ${type}`);
  if (key === "" || key.length > EVENT_KEY_LENGTH_MAX || key.includes("\0") || !key.isWellFormed()) {
    throw new RangeError(`the key of an event is 1 to ${EVENT_KEY_LENGTH_MAX} storable characters`);
  }
  // JSON writes NUL and broken surrogates as escapes, so any text of a venue's fits.
  const text = JSON.stringify(payload);
  if (Buffer.byteLength(text) > EVENT_PAYLOAD_BYTES_MAX) {
    throw new RangeError(`the payload of an event is at most ${EVENT_PAYLOAD_BYTES_MAX} bytes of JSON`);
  }
  return text;
}

/**
 * What happened, in the order in which it became true. An id that has been seen has no unseen id below it, whatever
 * writers do at the same time, so a reader that remembers one number misses nothing and repeats nothing. Ids rise, mostly
 * by one.
 */
export interface EventLog {
  /**
   * The events behind `after` that the filter wants, at most `limit` (1 to 1,000) of them. A choosy reader may get few or
   * none while more follow; `through` says how far this page reached.
   */
  readAfter(after: number, options: { readonly limit: number; readonly filter?: EventFilter }): Promise<EventPage>;
  /** Id of the newest event; 0 when there never was one. */
  latestId(): Promise<number>;
  /** Everything with this id and above is still kept. A reader that has seen less than the id before it has a gap. */
  oldestId(): Promise<number>;
  /** Wakes the readers. To be called after the commit of a transaction that appended. */
  announce(): void;
  /** Drops what is older than `days`; gives how many. Running it again changes nothing. */
  applyRetention(days: number): Promise<number>;
}

export function createEventLog(options: { readonly database: Database; readonly bus: Bus }): EventLog {
  const { database, bus } = options;
  return {
    async readAfter(after, { limit, filter = {} }) {
      if (!Number.isSafeInteger(after) || after < 0) throw new RangeError("an event id is a whole number from 0");
      if (!Number.isInteger(limit) || limit < 1 || limit > EVENTS_PER_READ_MAX) {
        throw new RangeError(`limit is 1 to ${EVENTS_PER_READ_MAX}`);
      }
      if ((filter.markets?.length ?? 0) > MARKETS_PER_FILTER_MAX) {
        throw new RangeError(`a filter names at most ${MARKETS_PER_FILTER_MAX} markets`);
      }
      return selectEventsAfter(database, after, limit, filter);
    },
    latestId: async () => (await selectHead(database)).lastId,
    oldestId: async () => (await selectHead(database)).droppedThrough + 1,
    announce: () => bus.publish(EVENTS_TOPIC),
    async applyRetention(days) {
      const through = await advanceDropped(database, days);
      let count = 0;
      for (let round = 0; round < DELETE_ROUNDS_MAX; round++) {
        const deleted = await deleteEventsThrough(database, through, DELETE_ROWS_MAX);
        count += deleted;
        if (deleted < DELETE_ROWS_MAX) break;
      }
      return count;
    },
  };
}
