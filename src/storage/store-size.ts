import { HOUR_MS } from "../lib/durations.ts";
import type { Database } from "../ports/database.ts";
import { deleteFiveMinuteBars, deleteOldRows } from "./retention.ts";
import { dropTickPartition, listTickPartitions } from "./tick-partitions.ts";

/** Space in the data directory outside of the database: the write-ahead log and PostgreSQL's template databases. */
const OUTSIDE_DATABASE_BYTES = 128 * 2 ** 20;
/** Minimum age of data that may be deleted, because the roll-up reads newer data. */
const KEPT_MS_MIN = HOUR_MS;
/** Target size after a deletion as a share of the limit, so that not every run deletes rows. */
const REMAINING_SHARE = 0.9;
/** Number of sampled rows from which the age of the oldest rows of a table is estimated. */
const SAMPLE_ROWS = 20_000;

type DeleteBefore = (database: Database, beforeMs: number) => Promise<unknown>;

/**
 * Row limits of tables whose files do not shrink, because vacuum only makes the space of deleted rows reusable.
 * `rowBytes` includes the space of half-empty indexes, which occur after days of inserts and deletes. Ticks may use the
 * rest of the space.
 */
const ROW_LIMITS: readonly {
  readonly table: string;
  readonly column: string;
  readonly rowBytes: number;
  /** Share of the maximum database size. */
  readonly share: number;
  readonly deleteBefore: DeleteBefore;
}[] = [
  {
    table: "trades",
    column: "executed_at",
    rowBytes: 340,
    share: 0.35,
    deleteBefore: (database, beforeMs) => deleteOldRows(database, "trades", "executed_at", beforeMs),
  },
  {
    table: "bars_5m",
    column: "start_at",
    rowBytes: 140,
    share: 0.2,
    deleteBefore: deleteFiveMinuteBars,
  },
  {
    table: "bars_1h",
    column: "start_at",
    rowBytes: 158,
    share: 0.15,
    deleteBefore: (database, beforeMs) => deleteOldRows(database, "bars_1h", "start_at", beforeMs),
  },
];

/** Returns the number of rows of a table. It is estimated if the engine's statistics were lost in a crash. */
async function countRows(database: Database, table: string): Promise<number> {
  const readStatistics = () =>
    database.query<{ count: number; is_known: boolean }>(
      `select n_live_tup::float8 as count, last_vacuum is not null or last_analyze is not null as is_known
       from pg_stat_user_tables where relid = $1::regclass`,
      [table],
    );
  await database.query("select pg_stat_force_next_flush()");
  let [statistics] = await readStatistics();
  if (statistics?.is_known !== true) {
    await database.query(`analyze ${table}`);
    await database.query("select pg_stat_force_next_flush()");
    [statistics] = await readStatistics();
  }
  return statistics?.count ?? 0;
}

/** Deletes the oldest rows of a table if it has more than `rowsMax`. */
async function limitRows(
  database: Database,
  now: number,
  { table, column, deleteBefore }: (typeof ROW_LIMITS)[number],
  rowsMax: number,
): Promise<void> {
  const count = await countRows(database, table);
  if (count <= rowsMax) return;
  const [oldest] = await database.query<{ at: Date | null }>(
    `select percentile_disc($1::float8) within group (order by ${column}) as at
     from ${table} tablesample system ($2::float4)`,
    [1 - (rowsMax * REMAINING_SHARE) / count, Math.min(100, (100 * SAMPLE_ROWS) / count)],
  );
  if (oldest?.at == null) return;
  await deleteBefore(database, Math.min(oldest.at.getTime(), now - KEPT_MS_MIN));
}

/** Drops the oldest tick partitions while the database is larger than `bytesMax`. */
async function dropOldestTicks(database: Database, now: number, bytesMax: number): Promise<void> {
  const [size] = await database.query<{ bytes: number }>(
    "select pg_database_size(current_database())::float8 as bytes",
  );
  let excessBytes = (size?.bytes ?? 0) - bytesMax;
  for (const partition of await listTickPartitions(database)) {
    if (excessBytes <= 0 || partition.endMs > now - KEPT_MS_MIN) break;
    await dropTickPartition(database, partition);
    excessBytes -= partition.bytes;
  }
}

/**
 * Deletes the oldest ticks, trades and bars, so that the data directory of the embedded store stays below
 * `folderBytesMax`, and makes the space of deleted rows reusable. Other data (markets, events, the last hour of ticks)
 * is not deleted. Run it every few minutes.
 *
 * @param folderBytesMax  null deletes nothing
 */
export async function reclaimSpace(database: Database, now: number, folderBytesMax: number | null): Promise<void> {
  if (folderBytesMax !== null) {
    const bytesMax = folderBytesMax - OUTSIDE_DATABASE_BYTES;
    for (const limit of ROW_LIMITS) await limitRows(database, now, limit, (bytesMax * limit.share) / limit.rowBytes);
    await dropOldestTicks(database, now, bytesMax);
  }
  await maintainTables(database);
}

/**
 * A table with more dead rows than this number plus this share of its rows is vacuumed, and one with more changed rows
 * since its last analysis is analysed, as by autovacuum.
 */
const CHANGED_ROWS_MIN = 1_000;
const CHANGED_SHARE_MIN = 0.1;

const selectTablesSql = (changedRows: string) => `
select format('%I.%I', schemaname, relname) as name from pg_stat_all_tables
where schemaname in (current_schema(), current_schema() || '_jobs', 'parallax_jobs', 'pg_catalog')
  and ${changedRows} > ${CHANGED_ROWS_MIN} + ${CHANGED_SHARE_MIN} * n_live_tup`;

/**
 * Vacuums the tables with many dead rows, so that new rows reuse their space. Analyses the tables with many changed
 * rows; otherwise each roll-up would read the whole partition of ticks. Does nothing if there is an autovacuum daemon;
 * the embedded store has none.
 */
async function maintainTables(database: Database): Promise<void> {
  const daemons = await database.query(
    "select 1 from pg_stat_activity where backend_type = 'autovacuum launcher' limit 1",
  );
  if (daemons.length > 0) return;
  // The engine reports its statistics at most once a second.
  await database.query("select pg_stat_force_next_flush()");
  for (const { name } of await database.query<{ name: string }>(selectTablesSql("n_dead_tup")))
    await database.query(`vacuum (analyze) ${name}`);
  for (const { name } of await database.query<{ name: string }>(selectTablesSql("n_mod_since_analyze")))
    await database.query(`analyze ${name}`);
}
