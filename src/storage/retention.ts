import type { Database } from "../ports/database.ts";
import { DAY_MS, HOUR_MS } from "./model.ts";
import { dropTickPartitions, makeTickPartitions } from "./tick-partitions.ts";

/** How long what is kept. Hourly bars and changes of status are kept as long as their market. */
export interface RetentionDays {
  readonly tickDays: number;
  readonly tradeDays: number;
  readonly fiveMinuteBarDays: number;
  /** Counted from when a settled market was last seen; null keeps it and all of its past for ever. */
  readonly settledMarketDays: number | null;
}

export const DEFAULT_RETENTION: RetentionDays = {
  tickDays: 30,
  tradeDays: 30,
  fiveMinuteBarDays: 365,
  settledMarketDays: null,
};

const DELETE_ROWS_MAX = 20_000;
/** Rows beyond this wait for the next run; one run must not hold the store for minutes. */
const DELETE_ROUNDS_MAX = 100;

/** How much a run dropped. */
export interface DeletedRows {
  readonly tickPartitions: number;
  readonly trades: number;
  readonly fiveMinuteBars: number;
  readonly coverage: number;
  readonly settledMarkets: number;
}

const SHORT_INTERVALS = `and interval_seconds < ${HOUR_MS / 1_000}`;

async function deleteOlder(
  database: Database,
  table: string,
  column: string,
  beforeMs: number,
  condition = "",
): Promise<number> {
  let count = 0;
  for (let round = 0; round < DELETE_ROUNDS_MAX; round++) {
    const [row] = await database.query<{ count: number }>(
      `with old as (
         delete from ${table} where ctid = any(array(
           select ctid from ${table} where ${column} < to_timestamp($1::float8 / 1000) ${condition} limit ${DELETE_ROWS_MAX}))
         returning 1
       ) select count(*) as count from old`,
      [beforeMs],
    );
    const deleted = row?.count ?? 0;
    count += deleted;
    if (deleted < DELETE_ROWS_MAX) break;
  }
  return count;
}

/** Tables of a market's past, and the market itself as the last, so that a deletion cut short is taken up again. */
const TABLES_OF_MARKET = ["trades", "bars_5m", "bars_1h", "status_changes", "history_coverage", "quotes"] as const;
const MARKETS_PER_ROUND = 200;

/** Deletes settled markets last seen before an instant, with all of their past but ticks, whose days are dropped whole. */
async function deleteSettledMarkets(database: Database, beforeMs: number): Promise<number> {
  let count = 0;
  for (let round = 0; round < DELETE_ROUNDS_MAX; round++) {
    const rows = await database.query<{ key: number }>(
      `select key from markets where status = 'finalized' and updated_at < to_timestamp($1::float8 / 1000)
       limit ${MARKETS_PER_ROUND}`,
      [beforeMs],
    );
    const keys = rows.map(({ key }) => key);
    if (keys.length === 0) break;
    for (const table of TABLES_OF_MARKET)
      await database.query(`delete from ${table} where market_key = any($1::int4[])`, [keys]);
    await database.query("delete from markets where key = any($1::int4[])", [keys]);
    count += keys.length;
  }
  return count;
}

/** A server's own daemon does this; the embedded engine has none, and its planner would work from no statistics at all. */
async function vacuumWhereNobodyElseDoes(database: Database): Promise<void> {
  const daemons = await database.query(
    "select 1 from pg_stat_activity where backend_type = 'autovacuum launcher' limit 1",
  );
  if (daemons.length > 0) return;
  for (const table of ["markets", "events", "trades", "bars_5m", "bars_1h", "event_log", "event_log_head"]) {
    await database.query(`vacuum (analyze) ${table}`);
  }
}

/**
 * Makes the days of ticks that will soon be needed and drops what is older than `days` says. Once a day is enough;
 * running it again, or on two nodes at once, changes nothing.
 */
export async function applyRetention(
  database: Database,
  now: number,
  days: RetentionDays = DEFAULT_RETENTION,
): Promise<DeletedRows> {
  await makeTickPartitions(database, now);
  const tickPartitions = await dropTickPartitions(database, now - days.tickDays * DAY_MS);
  const trades = await deleteOlder(database, "trades", "executed_at", now - days.tradeDays * DAY_MS);
  const fiveMinuteBars = await deleteOlder(database, "bars_5m", "start_at", now - days.fiveMinuteBarDays * DAY_MS);
  // A span fetched from the venue says that its bars are here; once they are dropped, it may be fetched again.
  const coverage = await deleteOlder(
    database,
    "history_coverage",
    "to_at",
    now - days.fiveMinuteBarDays * DAY_MS,
    SHORT_INTERVALS,
  );
  const settledMarkets =
    days.settledMarketDays === null ? 0 : await deleteSettledMarkets(database, now - days.settledMarketDays * DAY_MS);
  await vacuumWhereNobodyElseDoes(database);
  return { tickPartitions, trades, fiveMinuteBars, coverage, settledMarkets };
}
