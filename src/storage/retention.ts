import { deleteInBatches } from "../lib/delete-in-batches.ts";
import type { Database } from "../ports/database.ts";
import { DAY_MS, HOUR_MS } from "./model.ts";
import { createNextPartitions, dropTickPartitions } from "./tick-partitions.ts";

/** Retention periods. Hourly bars and status changes are deleted with their market. */
export interface RetentionDays {
  readonly tickDays: number;
  readonly tradeDays: number;
  readonly fiveMinuteBarDays: number;
  /** Days since the last update of a settled market; null retains settled markets and their data permanently. */
  readonly settledMarketDays: number | null;
}

export const DEFAULT_RETENTION: RetentionDays = {
  tickDays: 30,
  tradeDays: 30,
  fiveMinuteBarDays: 365,
  settledMarketDays: null,
};

const DELETE_ROWS_MAX = 20_000;
/** Per table and run. */
const DELETE_BATCHES_MAX = 100;

function deleteOldRows(database: Database, table: string, column: string, beforeMs: number, condition = "") {
  return deleteInBatches(DELETE_ROWS_MAX, DELETE_BATCHES_MAX, async () => {
    const [row] = await database.query<{ count: number }>(
      `with old as (
         delete from ${table} where ctid = any(array(
           select ctid from ${table} where ${column} < to_timestamp($1::float8 / 1000) ${condition} limit ${DELETE_ROWS_MAX}))
         returning 1
       ) select count(*) as count from old`,
      [beforeMs],
    );
    return row?.count ?? 0;
  });
}

/** Tables with rows of a market. The market is deleted after these rows, so the next run resumes an interrupted one. */
const MARKET_DATA_TABLES = ["trades", "bars_5m", "bars_1h", "status_changes", "history_coverage", "quotes"] as const;
const MARKETS_PER_BATCH_MAX = 200;

/** Deletes settled markets last updated before `beforeMs` and their data, except ticks, whose partitions expire. */
function deleteSettledMarkets(database: Database, beforeMs: number): Promise<number> {
  return deleteInBatches(MARKETS_PER_BATCH_MAX, DELETE_BATCHES_MAX, async () => {
    const rows = await database.query<{ key: number }>(
      `select key from markets where status = 'finalized' and updated_at < to_timestamp($1::float8 / 1000)
       limit ${MARKETS_PER_BATCH_MAX}`,
      [beforeMs],
    );
    const keys = rows.map(({ key }) => key);
    for (const table of MARKET_DATA_TABLES)
      await database.query(`delete from ${table} where market_key = any($1::int4[])`, [keys]);
    await database.query("delete from markets where key = any($1::int4[])", [keys]);
    return keys.length;
  });
}

/** Vacuums and analyses tables if there is no autovacuum daemon, as in the embedded database. */
async function vacuumIfNoDaemon(database: Database): Promise<void> {
  const daemons = await database.query(
    "select 1 from pg_stat_activity where backend_type = 'autovacuum launcher' limit 1",
  );
  if (daemons.length > 0) return;
  for (const table of ["markets", "events", "trades", "bars_5m", "bars_1h", "event_log", "event_log_head"]) {
    await database.query(`vacuum (analyze) ${table}`);
  }
}

/**
 * Creates the tick partitions of the next days and deletes data older than the retention periods. Run it once a day.
 * Idempotent, even if two nodes run it simultaneously.
 *
 * @returns how many rows or partitions were deleted
 */
export async function applyRetention(database: Database, now: number, days: RetentionDays = DEFAULT_RETENTION) {
  await createNextPartitions(database, now);
  const tickPartitions = await dropTickPartitions(database, now - days.tickDays * DAY_MS);
  const trades = await deleteOldRows(database, "trades", "executed_at", now - days.tradeDays * DAY_MS);
  const barsBeforeMs = now - days.fiveMinuteBarDays * DAY_MS;
  const fiveMinuteBars = await deleteOldRows(database, "bars_5m", "start_at", barsBeforeMs);
  // Delete the coverage of deleted bars, so that their range can be fetched from the venue again.
  const shorterThanHourCondition = `and interval_seconds < ${HOUR_MS / 1_000}`;
  const coverage = await deleteOldRows(database, "history_coverage", "to_at", barsBeforeMs, shorterThanHourCondition);
  const settledMarkets =
    days.settledMarketDays === null ? 0 : await deleteSettledMarkets(database, now - days.settledMarketDays * DAY_MS);
  await vacuumIfNoDaemon(database);
  return { tickPartitions, trades, fiveMinuteBars, coverage, settledMarkets };
}
