import { chunksOf } from "../lib/chunks.ts";
import { deleteInBatches } from "../lib/delete-in-batches.ts";
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
import {
  advanceDroppedThrough,
  deleteEpochsThrough,
  deleteEventsThrough,
  insertEvents,
  raiseLastId,
  selectEventsAfter,
  selectLatestId,
  selectStartOfNewest,
} from "./queries.ts";

/** Bus topic on which `announce` wakes the readers. */
export const EVENTS_TOPIC = "events";
const EVENTS_PER_READ_MAX = 1_000;
const EVENTS_PER_STATEMENT_MAX = 1_000;
const MARKETS_PER_FILTER_MAX = 1_000;
const DELETE_ROWS_MAX = 5_000;
const DELETE_BATCHES_MAX = 200;
const MICROSECONDS_PER_MS = 1_000;

/**
 * Appends events in the transaction of the change they describe, so that both are committed or neither. Call it last in
 * the transaction: it blocks all other appending transactions until the commit. Events whose key is already in the log
 * are ignored, so repeating a transaction adds no duplicates.
 *
 * @returns how many events were new
 * @throws RangeError if an event has an unknown type or exceeds the bounds in `model.ts`
 */
export async function appendEvents(transaction: Transaction, events: readonly NewEvent[]): Promise<number> {
  const rows = events.map((event) => ({ ...event, payload: encodePayload(event) }));
  let addedCount = 0;
  for (const chunk of chunksOf(rows, EVENTS_PER_STATEMENT_MAX)) addedCount += await insertEvents(transaction, chunk);
  return addedCount;
}

function encodePayload({ type, key, payload }: NewEvent): string {
  if (!EVENT_TYPES.includes(type)) throw new RangeError(`Unknown event type: ${type}`);
  if (key === "" || key.length > EVENT_KEY_LENGTH_MAX || key.includes("\0") || !key.isWellFormed()) {
    throw new RangeError(`An event key must have 1 to ${EVENT_KEY_LENGTH_MAX} characters that PostgreSQL can store`);
  }
  // JSON escapes NUL and unpaired surrogates, so the text needs no further conversion.
  const text = JSON.stringify(payload);
  if (Buffer.byteLength(text) > EVENT_PAYLOAD_BYTES_MAX) {
    throw new RangeError(`An event payload must have at most ${EVENT_PAYLOAD_BYTES_MAX} bytes of JSON`);
  }
  return text;
}

/**
 * Makes all later ids higher than every id that was assigned before `now`, including those of the lost state of a store
 * that was restored from a backup: the ids continue at the current time in microseconds, and no store appends a million
 * events a second. Each process calls it at its start. Idempotent.
 *
 * @param now  Unix milliseconds
 * @returns the last id, which all later ids exceed
 */
export function startEpoch(database: Database, now: number): Promise<number> {
  return database.transaction((transaction) => raiseLastId(transaction, now * MICROSECONDS_PER_MS));
}

/**
 * Events in commit order. Ids become visible in ascending order even with concurrent writers, so a reader that stores
 * the last id it has read reads each event exactly once. Ids may have gaps.
 */
export interface EventLog {
  /**
   * Returns at most `limit` (1 to 1,000) matching events after the id `after`. One read scans a bounded number of ids,
   * so a page may be empty although events after `through` match. Continue from `through`.
   */
  readAfter(after: number, options: { readonly limit: number; readonly filter?: EventFilter }): Promise<EventPage>;
  /** Returns the id of the latest event, or 0 if no event has been logged yet. */
  latestId(): Promise<number>;
  /** Returns the position that only the newest `count` events (at least 1) follow. */
  startOfNewest(count: number): Promise<number>;
  /** Wakes the readers. Call it after the commit of a transaction that appended events. */
  announce(): void;
  /** Deletes events older than `days` and returns the number of deleted events. Idempotent. */
  applyRetention(days: number): Promise<number>;
}

export function createEventLog({ database, bus }: { readonly database: Database; readonly bus: Bus }): EventLog {
  return {
    async readAfter(after, { limit, filter = {} }) {
      if (!Number.isSafeInteger(after) || after < 0) throw new RangeError("An event id must be a non-negative integer");
      if (!Number.isInteger(limit) || limit < 1 || limit > EVENTS_PER_READ_MAX) {
        throw new RangeError(`The limit must be 1 to ${EVENTS_PER_READ_MAX}`);
      }
      if ((filter.markets?.length ?? 0) > MARKETS_PER_FILTER_MAX) {
        throw new RangeError(`A filter can have at most ${MARKETS_PER_FILTER_MAX} markets`);
      }
      return selectEventsAfter(database, after, limit, filter);
    },
    latestId: () => selectLatestId(database),
    startOfNewest: (count) => selectStartOfNewest(database, count),
    announce: () => bus.publish(EVENTS_TOPIC),
    async applyRetention(days) {
      const throughId = await advanceDroppedThrough(database, days);
      await deleteEpochsThrough(database, throughId);
      return deleteInBatches(DELETE_ROWS_MAX, DELETE_BATCHES_MAX, () =>
        deleteEventsThrough(database, throughId, DELETE_ROWS_MAX),
      );
    },
  };
}
