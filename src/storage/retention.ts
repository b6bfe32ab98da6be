import { deleteInBatches, deleteRows } from "../lib/delete-in-batches.ts";
import { DAY_MS, HOUR_MS } from "../lib/durations.ts";
import { toTimestampSql } from "../lib/timestamp-sql.ts";
import type { Database } from "../ports/database.ts";
import { createNextPartitions, dropTickPartitions } from "./tick-partitions.ts";

/**
 * Retention periods. Status changes are deleted with their market. So are hourly bars, unless the store's size is
 * limited.
 */
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

/** Maximum retention of ticks in a store of limited size. Each roll-up query opens all its hourly partitions. */
const LIMITED_TICK_DAYS_MAX = 2;
/** Retention of settled markets in a store of limited size. The board shows settled markets for 30 days. */
const LIMITED_SETTLED_MARKET_DAYS = 31;

/**
 * Returns the retention and the length of tick partitions. In a store of limited size, ticks are deleted by the hour,
 * and settled markets are not kept permanently.
 */
export function planRetention(days: RetentionDays, storeBytesMax: number | null) {
  if (storeBytesMax === null) return { retention: days, partitionMs: DAY_MS };
  const retention: RetentionDays = {
    ...days,
    tickDays: Math.min(days.tickDays, LIMITED_TICK_DAYS_MAX),
    settledMarketDays: days.settledMarketDays ?? LIMITED_SETTLED_MARKET_DAYS,
  };
  return { retention, partitionMs: HOUR_MS };
}

const DELETE_ROWS_MAX = 20_000;
/** Maximum number of batches per table and run. */
const DELETE_BATCHES_MAX = 100;

/** Deletes rows of a table whose time in `column` is before `beforeMs`. Returns the number of rows. */
export function deleteOldRows(database: Database, table: string, column: string, beforeMs: number, condition = "") {
  const sql = `${column} < ${toTimestampSql("$1")} ${condition}`;
  return deleteRows(database, table, sql, beforeMs, { rowsMax: DELETE_ROWS_MAX, batchesMax: DELETE_BATCHES_MAX });
}

/** Tables with rows of a market. The market is deleted after these rows, so that an interrupted run can be resumed. */
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

/**
 * Deletes five-minute bars that start before `beforeMs`, and their coverage, so that the range can be fetched again.
 */
export async function deleteFiveMinuteBars(database: Database, beforeMs: number) {
  const fiveMinuteBars = await deleteOldRows(database, "bars_5m", "start_at", beforeMs);
  const shorterThanHourCondition = `and interval_seconds < ${HOUR_MS / 1_000}`;
  const coverage = await deleteOldRows(database, "history_coverage", "to_at", beforeMs, shorterThanHourCondition);
  return { fiveMinuteBars, coverage };
}

/**
 * Creates the next tick partitions and deletes data older than the retention periods. Run it once an hour. Idempotent,
 * even if two nodes run it simultaneously.
 *
 * @param partitionMs  length of new tick partitions: a day or an hour
 * @returns how many rows or partitions were deleted
 */
export async function applyRetention(
  database: Database,
  now: number,
  days: RetentionDays = DEFAULT_RETENTION,
  partitionMs = DAY_MS,
) {
  await createNextPartitions(database, now, partitionMs);
  const tickPartitions = await dropTickPartitions(database, now - days.tickDays * DAY_MS);
  const trades = await deleteOldRows(database, "trades", "executed_at", now - days.tradeDays * DAY_MS);
  const { fiveMinuteBars, coverage } = await deleteFiveMinuteBars(database, now - days.fiveMinuteBarDays * DAY_MS);
  const settledMarkets =
    days.settledMarketDays === null ? 0 : await deleteSettledMarkets(database, now - days.settledMarketDays * DAY_MS);
  return { tickPartitions, trades, fiveMinuteBars, coverage, settledMarkets };
}
