import type { Database, Transaction } from "../ports/database.ts";
import { EVENT_TYPES, type EventFilter, type EventPage, type LoggedEvent, type NewEvent } from "./model.ts";

/** Maximum number of ids that one read scans, which bounds a read with a selective filter. */
const SCAN_IDS_MAX = 10_000;
/** The server ends a transaction that is idle this long after its append, because an append blocks all writers. */
const IDLE_WRITER_MS_MAX = 5_000;

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

/** An event whose payload is encoded as JSON. */
type EventRow = Omit<NewEvent, "payload"> & { readonly payload: string };

/** Returns how many events were new. */
export async function insertEvents(transaction: Transaction, rows: readonly EventRow[]): Promise<number> {
  const [countRow] = await transaction.query<{ count: number }>(APPEND_EVENTS, [
    rows.map(({ key }) => key),
    rows.map(({ type }) => type),
    rows.map(({ venue }) => venue),
    rows.map(({ marketId }) => marketId),
    rows.map(({ occurredAt }) => occurredAt),
    rows.map(({ payload }) => payload),
  ]);
  return countRow?.count ?? 0;
}

const SELECT_HEAD = `
select coalesce(max(last_id), 0) as last_id, coalesce(max(dropped_through), 0) as dropped_through from event_log_head`;

/**
 * Reads the head row and the events from the same snapshot, so no event up to the head is missing. The scan begins at
 * the next event, so that ids without events cost nothing. It never ends within a range of unassigned ids, because a
 * reader that continues from there would be told that it has missed events.
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

export async function selectEventsAfter(
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

export async function selectLatestId(database: Database): Promise<number> {
  const [head] = await database.query<{ last_id: number }>(SELECT_HEAD);
  return head?.last_id ?? 0;
}

/** Returns the position that only the newest `count` events follow. */
export async function selectStartOfNewest(database: Database, count: number): Promise<number> {
  const [row] = await database.query<{ position: number }>(
    `select coalesce((select id - 1 from event_log order by id desc offset $1 limit 1), dropped_through) as position
     from (${SELECT_HEAD}) as head`,
    [count - 1],
  );
  return row?.position ?? 0;
}

/**
 * Raises the last id to at least `firstId`, and stores the range of ids that are never assigned because of it. Each
 * call stores a separate range: readers may have continued to the last id of an earlier call, which must stay a valid
 * position. Returns the last id.
 */
export async function raiseLastId(transaction: Transaction, firstId: number): Promise<number> {
  await transaction.query(
    "insert into event_log_head (last_id, dropped_through) values (0, 0) on conflict (is_only) do nothing",
  );
  const [head] = await transaction.query<{ last_id: number }>("select last_id from event_log_head for update");
  const lastId = head?.last_id ?? 0;
  if (lastId >= firstId) return lastId;
  await transaction.query("insert into event_log_epochs (first_id, previous_id) values ($2::int8, $1::int8)", [
    lastId,
    firstId,
  ]);
  await transaction.query("update event_log_head set last_id = $1::int8", [firstId]);
  return firstId;
}

/**
 * Advances the retention boundary to the first event that is not older than `days`, and returns the id before it. Uses
 * the database clock, which also set `appended_at`, so a node whose clock is ahead deletes nothing early.
 */
export async function advanceDroppedThrough(database: Database, days: number): Promise<number> {
  const [head] = await database.query<{ dropped_through: number }>(
    `with horizon as (
       select coalesce((
         select id - 1 from event_log where appended_at >= clock_timestamp() - $1::float8 * interval '1 day'
         order by id limit 1), last_id) as id
       from event_log_head
     )
     update event_log_head set dropped_through = greatest(dropped_through, horizon.id) from horizon
     returning dropped_through`,
    [days],
  );
  return head?.dropped_through ?? 0;
}

export async function deleteEpochsThrough(database: Database, id: number): Promise<void> {
  await database.query("delete from event_log_epochs where first_id <= $1", [id]);
}

export async function deleteEventsThrough(database: Database, id: number, rowsMax: number): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `with old as (
       delete from event_log where id = any(array(select id from event_log where id <= $1 order by id limit $2))
       returning 1
     ) select count(*) as count from old`,
    [id, rowsMax],
  );
  return row?.count ?? 0;
}
