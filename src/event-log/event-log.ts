import { AppError } from "../domain/errors.ts";
import { AsyncEvent } from "../lib/async-event.ts";
import { chunksOf } from "../lib/chunks.ts";
import { columnsOf } from "../lib/columns-of.ts";
import { deleteInBatches } from "../lib/delete-in-batches.ts";
import { encodeJson } from "../lib/round-numbers.ts";
import type { Bus } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Database, Transaction } from "../ports/database.ts";
import {
  EVENT_KEY_LENGTH_MAX,
  EVENT_PAYLOAD_BYTES_MAX,
  EVENT_TYPES,
  type EventFilter,
  type EventPage,
  type LoggedEvent,
  type NewEvent,
} from "./model.ts";

/** Bus topic on which `announce` publishes. */
export const EVENTS_TOPIC = "events";
const EVENTS_PER_READ_MAX = 1_000;
const EVENTS_PER_STATEMENT_MAX = 1_000;
const MARKETS_PER_FILTER_MAX = 1_000;
const DELETE_ROWS_MAX = 5_000;
const DELETE_BATCHES_MAX = 200;
const MICROSECONDS_PER_MS = 1_000;
/** Maximum number of ids that one read scans, which bounds a read with a selective filter. */
const SCAN_IDS_MAX = 10_000;
/** Idle timeout of a transaction after its append, because an uncommitted append blocks all other writers. */
const IDLE_WRITER_MS_MAX = 5_000;
/** Polling interval. If a wake-up is lost, events are delayed by at most this time. */
const POLL_INTERVAL_MS = 1_000;
const BATCH_SIZE_DEFAULT = 200;

/**
 * Ids come from a row instead of a sequence. The row lock is held until the commit, so writers commit in the order of
 * their ids, a rolled-back append uses no ids, and a reader gets the last id from the same snapshot as the events. The
 * append is a single statement, which keeps the lock time short.
 */
const APPEND_EVENTS = `
with bound as materialized (
  select set_config('idle_in_transaction_session_timeout', '${IDLE_WRITER_MS_MAX}', true)
), head as (
  insert into event_log_head (last_id, dropped_through) select cardinality($1::text[]), 0 from bound
  on conflict (is_only) do update set last_id = event_log_head.last_id + excluded.last_id
  returning last_id - cardinality($1::text[]) as before
), added as (
  insert into event_log (id, event_key, type, venue, market_id, occurred_at, payload)
  select head.before + event.ordinal, event.event_key, event.type, event.venue, event.market_id,
    to_timestamp(event.occurred_ms / 1000), event.payload
  from head, unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::float8[], $6::text[]) with ordinality
    as event (event_key, type, venue, market_id, occurred_ms, payload, ordinal)
  order by event.ordinal
  on conflict (event_key) do nothing
  returning 1
) select count(*) as count from added`;

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
  for (const chunk of chunksOf(rows, EVENTS_PER_STATEMENT_MAX)) {
    const columns = columnsOf(chunk, "key", "type", "venue", "marketId", "occurredAt", "payload");
    const [countRow] = await transaction.query<{ count: number }>(APPEND_EVENTS, columns);
    addedCount += countRow?.count ?? 0;
  }
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
 * Makes all later ids higher than every id that was assigned before `now`, even if the store was restored from a backup
 * and some ids were lost. The ids continue at the current time in microseconds, and no store appends a million events
 * per second. Each process calls it when it starts. Idempotent.
 *
 * @param now  Unix milliseconds
 * @returns the last id, which all later ids exceed
 */
export function startEpoch(database: Database, now: number): Promise<number> {
  const firstId = now * MICROSECONDS_PER_MS;
  return database.transaction(async (transaction) => {
    await transaction.query(
      "insert into event_log_head (last_id, dropped_through) values (0, 0) on conflict (is_only) do nothing",
    );
    const [head] = await transaction.query<{ last_id: number }>("select last_id from event_log_head for update");
    const lastId = head?.last_id ?? 0;
    if (lastId >= firstId) return lastId;
    // Each start stores its own range of unassigned ids, because the last id before an earlier range must stay a valid
    // position of readers.
    await transaction.query("insert into event_log_epochs (first_id, previous_id) values ($2::int8, $1::int8)", [
      lastId,
      firstId,
    ]);
    await transaction.query("update event_log_head set last_id = $1::int8", [firstId]);
    return firstId;
  });
}

const SELECT_HEAD = `
select coalesce(max(last_id), 0) as last_id, coalesce(max(dropped_through), 0) as dropped_through from event_log_head`;

/**
 * Reads the head row and the events from the same snapshot, so no event up to the head is missing. The scan begins at
 * the next event, so that ids without events cost nothing. The scan never ends within a range of unassigned ids,
 * because the next read from there would report a gap.
 */
const READ_AFTER = `
with head as (${SELECT_HEAD}), start as (
  select head.*, coalesce(
    (select id - 1 from event_log where id > greatest($1::int8, dropped_through) order by id limit 1), last_id) as after,
    exists (select from event_log_epochs where $1::int8 > previous_id and $1::int8 < first_id) as "isUnassigned"
  from head
), scan as (
  select start.*, least(last_id, coalesce(
    (select first_id from event_log_epochs
     where previous_id < start.after + ${SCAN_IDS_MAX} and first_id > start.after + ${SCAN_IDS_MAX}
     order by first_id limit 1), start.after + ${SCAN_IDS_MAX})) as through
  from start
)
select scan.through, scan.last_id as "lastId", scan.dropped_through as "droppedThrough", scan.after, scan."isUnassigned",
  event.id, event.type, event.venue, event.market_id as "marketId", event.occurred_at as "occurredAt", event.payload
from scan left join lateral (
  select * from event_log
  where id > scan.after and id <= scan.through
    and ($3::text[] is null or type = any($3::text[]))
    and ($4::text[] is null or (venue, market_id) in (
      select * from unnest($4::text[], $5::text[]) as market (venue, market_id)))
  order by id limit $2
) event on true order by event.id`;

type LoggedRow = Omit<LoggedEvent, "occurredAt" | "payload"> & { readonly occurredAt: Date; readonly payload: string };
type ReadRow = { lastId: number; droppedThrough: number; after: number; through: number; isUnassigned: boolean } & (
  | LoggedRow
  | { id: null }
);

/**
 * Advances the retention boundary to the first event that is not older than $1 days, and returns the id before it. Uses
 * the database clock, which also set `appended_at`, so a node whose clock is ahead deletes nothing early.
 */
const ADVANCE_DROPPED_THROUGH = `
with horizon as (
  select coalesce((
    select id - 1 from event_log where appended_at >= clock_timestamp() - $1::float8 * interval '1 day'
    order by id limit 1), last_id) as id
  from event_log_head
)
update event_log_head set dropped_through = greatest(dropped_through, horizon.id) from horizon
returning dropped_through`;

const DELETE_EVENTS = `
with old as (
  delete from event_log where id = any(array(select id from event_log where id <= $1 order by id limit $2))
  returning 1
) select count(*) as count from old`;

export type EventLog = ReturnType<typeof createEventLog>;

/**
 * Events in commit order. Ids become visible in ascending order even with concurrent writers, so a reader that stores
 * the last id it has read reads each event exactly once. Ids may have gaps.
 */
export function createEventLog({ database, bus }: { readonly database: Database; readonly bus: Bus }) {
  return {
    /**
     * Returns at most `limit` (1 to 1,000) matching events after the id `after`. One read scans a bounded number of
     * ids, so a page may be empty although events after `through` match. Continue from `through`.
     */
    async readAfter(
      after: number,
      { limit, filter = {} }: { readonly limit: number; readonly filter?: EventFilter },
    ): Promise<EventPage> {
      if (!Number.isSafeInteger(after) || after < 0) throw new RangeError("An event id must be a non-negative integer");
      if (!Number.isInteger(limit) || limit < 1 || limit > EVENTS_PER_READ_MAX) {
        throw new RangeError(`The limit must be 1 to ${EVENTS_PER_READ_MAX}`);
      }
      if ((filter.markets?.length ?? 0) > MARKETS_PER_FILTER_MAX) {
        throw new RangeError(`A filter can have at most ${MARKETS_PER_FILTER_MAX} markets`);
      }
      return selectEventsAfter(database, after, limit, filter);
    },
    /** Returns the id of the latest event, or 0 if no event has been logged yet. */
    async latestId(): Promise<number> {
      const [head] = await database.query<{ last_id: number }>(SELECT_HEAD);
      return head?.last_id ?? 0;
    },
    /** Returns the position before the newest `count` (at least 1) events. */
    async startOfNewest(count: number): Promise<number> {
      const [row] = await database.query<{ position: number }>(
        `select coalesce((select id - 1 from event_log order by id desc offset $1 limit 1), dropped_through) as position
         from (${SELECT_HEAD}) as head`,
        [count - 1],
      );
      return row?.position ?? 0;
    },
    /** Wakes the readers. Call it after the commit of a transaction that appended events. */
    announce: () => bus.publish(EVENTS_TOPIC),
    /** Deletes events older than `days` and returns the number of deleted events. Idempotent. */
    async applyRetention(days: number): Promise<number> {
      const [head] = await database.query<{ dropped_through: number }>(ADVANCE_DROPPED_THROUGH, [days]);
      const throughId = head?.dropped_through ?? 0;
      await database.query("delete from event_log_epochs where first_id <= $1", [throughId]);
      return deleteInBatches(DELETE_ROWS_MAX, DELETE_BATCHES_MAX, async () => {
        const [row] = await database.query<{ count: number }>(DELETE_EVENTS, [throughId, DELETE_ROWS_MAX]);
        return row?.count ?? 0;
      });
    },
  };
}

async function selectEventsAfter(
  database: Database,
  after: number,
  limit: number,
  filter: EventFilter,
): Promise<EventPage> {
  const rows = await database.query<ReadRow>(READ_AFTER, [
    after,
    limit,
    filter.types ?? null,
    filter.markets?.map(({ venue }) => venue) ?? null,
    filter.markets?.map(({ marketId }) => marketId) ?? null,
  ]);
  const [head] = rows;
  if (head === undefined) throw new Error("The event log query returned no head row");
  const events = rows.flatMap((row) => (row.id === null ? [] : [toEvent(row)]));
  const isFull = events.length >= limit;
  return {
    events,
    through: isFull ? (events.at(-1)?.id ?? head.after) : head.through,
    hasGap: after < head.droppedThrough || after > head.lastId || head.isUnassigned,
    latestId: head.lastId,
  };
}

/** Returns the events with these keys, in no particular order. Keys that are not in the log are left out. */
export async function selectEventsByKey(
  database: Pick<Database, "query">,
  keys: readonly string[],
): Promise<LoggedEvent[]> {
  if (keys.length === 0) return [];
  const rows = await database.query<LoggedRow>(
    `select id, type, venue, market_id as "marketId", occurred_at as "occurredAt", payload
     from event_log where event_key = any($1::text[])`,
    [keys],
  );
  return rows.map(toEvent);
}

function toEvent({ id, type, occurredAt, venue, marketId, payload }: LoggedRow): LoggedEvent {
  if (!EVENT_TYPES.includes(type)) throw new Error(`The event log contains an event of unknown type: ${type}`);
  return { id, type, occurredAt: occurredAt.getTime(), venue, marketId, payload: JSON.parse(payload) };
}

/** A batch of events. Resume from `through` after it has been processed. */
export type EventBatch = Omit<EventPage, "latestId">;

/**
 * Follows the log after the id `after` until the signal aborts: yields existing events, then waits for new events. It
 * reads the next batch after the consumer has processed the previous one. If the database is unavailable, it retries;
 * any other error is thrown.
 */
export async function* followEvents(options: {
  readonly log: Pick<EventLog, "readAfter">;
  readonly bus: Pick<Bus, "subscribe">;
  readonly clock: Clock;
  readonly after: number;
  readonly filter?: EventFilter;
  /** Maximum number of events in a batch, 1 to 1,000. */
  readonly batchMax?: number;
  readonly signal: AbortSignal;
}): AsyncGenerator<EventBatch, void, void> {
  const { log, bus, clock, filter, batchMax = BATCH_SIZE_DEFAULT, signal } = options;
  let after = options.after;
  const wakeUp = new AsyncEvent();
  const unsubscribe = bus.subscribe(EVENTS_TOPIC, () => wakeUp.set());
  const onAbort = () => wakeUp.set();
  signal.addEventListener("abort", onAbort);
  try {
    while (!signal.aborted) {
      wakeUp.reset();
      const page = await log.readAfter(after, { limit: batchMax, filter }).catch((error: unknown) => {
        if (error instanceof AppError && error.code === "store_unavailable") return null;
        throw error;
      });
      if (signal.aborted) return;
      if (page === null) {
        // Ignores wake-ups, because a burst of them would cause frequent retries.
        await clock.sleep(POLL_INTERVAL_MS, signal).catch(() => {});
        continue;
      }
      after = page.through;
      if (page.events.length > 0 || page.hasGap) {
        yield { events: page.events, through: page.through, hasGap: page.hasGap };
      }
      // A wake-up during the read may be for an event that the read did not include.
      if (page.through >= page.latestId && !signal.aborted) await wakeUp.wait(clock, POLL_INTERVAL_MS);
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    unsubscribe();
  }
}

/**
 * The JSON of an event as streams and webhooks send it: `id` (a decimal string that increases with every event),
 * `type`, `timestamp` (ISO 8601), and the fields of its payload. Numbers are rounded as in responses.
 */
export function formatEvent({ id, type, occurredAt, payload }: LoggedEvent): string {
  return encodeJson({ id: String(id), type, timestamp: new Date(occurredAt).toISOString(), ...payload });
}

interface NewestEventsOptions<Entry> {
  readonly countMax: number;
  readonly sizeMax: number;
  readonly sizeOf: (entry: Entry) => number;
}

/** The newest entries of the log in memory, in ascending order of ids, bounded by their number and total size. */
export class NewestEvents<Entry extends { readonly id: number }> {
  readonly #options: NewestEventsOptions<Entry>;
  #entries: (Entry | undefined)[] = [];
  /** Index of the oldest entry in `#entries`. */
  #start = 0;
  #size = 0;
  #floor = 0;
  #through = 0;

  constructor(options: NewestEventsOptions<Entry>) {
    this.#options = options;
  }

  /** Every event after this id and up to `through` is in memory. */
  get floor(): number {
    return this.#floor;
  }

  get through(): number {
    return this.#through;
  }

  /** Removes all entries. The next entries follow the id `position`. */
  reset(position: number): void {
    this.#entries = [];
    this.#start = 0;
    this.#size = 0;
    this.#floor = position;
    this.#through = position;
  }

  /** Adds a batch. @param through  the last id that was scanned, at least the id of the last entry */
  add(entries: readonly Entry[], through: number): void {
    const { countMax, sizeMax, sizeOf } = this.#options;
    for (const entry of entries) {
      this.#entries.push(entry);
      this.#size += sizeOf(entry);
    }
    this.#through = through;
    while (this.#entries.length - this.#start > countMax || this.#size > sizeMax) {
      const oldest = this.#entries[this.#start] as Entry;
      this.#size -= sizeOf(oldest);
      this.#floor = oldest.id;
      // Frees the memory of the entry before the array is shortened.
      this.#entries[this.#start++] = undefined;
    }
    // The array is shortened rarely, because removing its first element moves all others.
    if (this.#start > countMax) {
      this.#entries = this.#entries.slice(this.#start);
      this.#start = 0;
    }
  }

  /** Yields the entries after `position`, at least `floor`. Must not be interrupted by `add` or `reset`. */
  *after(position: number): Generator<Entry, void, void> {
    let low = this.#start;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle] as Entry).id <= position) low = middle + 1;
      else high = middle;
    }
    for (let index = low; index < this.#entries.length; index++) yield this.#entries[index] as Entry;
  }
}
