import type { Database } from "../ports/database.ts";

/** A table with more dead rows than this number plus this share of its rows is vacuumed, as by autovacuum. */
const DEAD_ROWS_MIN = 1_000;
const DEAD_SHARE_MIN = 0.1;

const SELECT_TABLES_WITH_DEAD_ROWS = `
select format('%I.%I', schemaname, relname) as name from pg_stat_all_tables
where schemaname in (current_schema(), current_schema() || '_jobs', 'parallax_jobs', 'pg_catalog')
  and n_dead_tup > ${DEAD_ROWS_MIN} + ${DEAD_SHARE_MIN} * n_live_tup`;

/**
 * Vacuums and analyses the tables with many dead rows if there is no autovacuum daemon, as in the embedded store, so
 * that new rows use the space of deleted and updated ones.
 */
export async function vacuumDeadRows(database: Database): Promise<void> {
  const daemons = await database.query(
    "select 1 from pg_stat_activity where backend_type = 'autovacuum launcher' limit 1",
  );
  if (daemons.length > 0) return;
  // The engine reports its statistics at most once a second.
  await database.query("select pg_stat_force_next_flush()");
  const tables = await database.query<{ name: string }>(SELECT_TABLES_WITH_DEAD_ROWS);
  for (const { name } of tables) await database.query(`vacuum (analyze) ${name}`);
}
