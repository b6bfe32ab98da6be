import type { Database } from "../../ports/database.ts";
import { DAY_MS } from "./model.ts";
import { dropTickPartitions } from "./tick-partitions.ts";

/** How long what is kept. Hourly bars are kept for ever. */
export interface RetentionDays {
  readonly tickDays: number;
  readonly tradeDays: number;
  readonly fiveMinuteBarDays: number;
}

export const DEFAULT_RETENTION: RetentionDays = { tickDays: 30, tradeDays: 30, fiveMinuteBarDays: 365 };

const DELETE_ROWS_MAX = 20_000;
/** Rows beyond this wait for the next run; one run must not hold the store for minutes. */
const DELETE_ROUNDS_MAX = 100;

async function deleteOlder(database: Database, table: string, column: string, beforeMs: number): Promise<number> {
  let count = 0;
  for (let round = 0; round < DELETE_ROUNDS_MAX; round++) {
    const [row] = await database.query<{ count: number }>(
      `with old as (
         delete from ${table} where ctid = any(array(
           select ctid from ${table} where ${column} < to_timestamp($1::float8 / 1000) limit ${DELETE_ROWS_MAX}))
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

/** A server's own daemon does this; the embedded engine has none, and its planner would work from no statistics at all. */
async function vacuumWhereNobodyElseDoes(database: Database): Promise<void> {
  const daemons = await database.query(
    "select 1 from pg_stat_activity where backend_type = 'autovacuum launcher' limit 1",
  );
  if (daemons.length > 0) return;
  for (const table of ["markets", "events", "trades", "bars_5m", "bars_1h"]) {
    await database.query(`vacuum (analyze) ${table}`);
  }
}

/** Drops what is older than `days` says. Once a day is enough; running it again changes nothing. */
export async function applyRetention(
  database: Database,
  now: number,
  days: RetentionDays = DEFAULT_RETENTION,
): Promise<{ tickPartitions: number; trades: number; fiveMinuteBars: number }> {
  const tickPartitions = await dropTickPartitions(database, now - days.tickDays * DAY_MS);
  const trades = await deleteOlder(database, "trades", "executed_at", now - days.tradeDays * DAY_MS);
  const fiveMinuteBars = await deleteOlder(database, "bars_5m", "start_at", now - days.fiveMinuteBarDays * DAY_MS);
  await vacuumWhereNobodyElseDoes(database);
  return { tickPartitions, trades, fiveMinuteBars };
}
