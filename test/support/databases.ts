import { test } from "node:test";
import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { migrateDatabase } from "../../src/adapters/database/migrations.ts";
import { openPostgresDatabase } from "../../src/adapters/database/postgres-database.ts";
import type { Database } from "../../src/ports/database.ts";
import { atProcessEnd } from "./file-end.ts";
import { quietLog } from "./quiet-log.ts";
import { temporaryFolder } from "./service-process.ts";
import { copyStoreTemplate } from "./store-template.ts";

const DATABASE_URL = process.env.TEST_DATABASE_URL;
const SCHEMA = `test_${process.pid}_${Date.now().toString(36)}`;

/** The databases of this process. All test files of a group share them. */
const opened: Database[] = [];

/** Empties the databases, so that a test file finds no rows of the files before it. */
export async function clearOpenedDatabases(): Promise<void> {
  for (const database of opened) await clearTables(database);
}

/** Returns a function that opens the database at its first call only, because starting the engine takes seconds. */
function openOnce(open: () => Promise<Database>): () => Promise<Database> {
  let database: Promise<Database> | null = null;
  return () => {
    database ??= open().then((value) => {
      opened.push(value);
      return value;
    });
    return database;
  };
}

/** Opens the embedded store with all migrations applied. */
export const embeddedDatabase = openOnce(async () => {
  const folder = await temporaryFolder();
  atProcessEnd(folder.release);
  const isMigrated = await copyStoreTemplate(folder.path);
  const database = await openEmbeddedDatabase({ dataDir: folder.path, log: quietLog });
  atProcessEnd(() => database.close());
  if (!isMigrated) await migrateDatabase(database);
  return database;
});

/** Opens a new schema on the server of `TEST_DATABASE_URL` with all migrations applied; it is dropped after the tests. */
export const postgresDatabase = openOnce(async () => {
  if (DATABASE_URL === undefined) throw new Error("TEST_DATABASE_URL is not set");
  const database = await openPostgresDatabase({ url: DATABASE_URL, schema: SCHEMA, log: quietLog });
  atProcessEnd(async () => {
    await database.query(`drop schema ${SCHEMA} cascade`);
    await database.query(`drop schema if exists ${SCHEMA}_jobs cascade`);
    await database.close();
  });
  await migrateDatabase(database);
  return database;
});

/** Empties every table and drops the tick partitions. */
async function clearTables(database: Database): Promise<void> {
  // Truncates only the tables that have had rows, because truncating a table recreates its files. Asking for the size of a
  // file is much cheaper than a query of each table.
  const tables = await database.query<{ name: string; kind: "partition" | "job" | "other" }>(
    `select oid::regclass::text as name,
       case when relispartition then 'partition' when is_job then 'job' else 'other' end as kind
     from (
       select oid, relname, relispartition, relnamespace <> current_schema()::regnamespace as is_job
       from pg_class
       where relkind in ('r', 'p')
         and relnamespace in (
           select oid from pg_namespace where nspname in (current_schema(), 'parallax_jobs', current_schema() || '_jobs')
         )
     ) as found
     where case when is_job then relname = 'job' when relispartition then true
       else relname <> 'schema_migrations' and pg_relation_size(oid) > 0 end`,
  );
  const namesOf = (wanted: string) => tables.filter(({ kind }) => kind === wanted).map(({ name }) => name);
  const [partitions, others] = [namesOf("partition"), namesOf("other")];
  if (partitions.length > 0) await database.query(`drop table ${partitions.join(", ")}`);
  if (others.length > 0) await database.query(`truncate ${others.join(", ")} restart identity cascade`);
  for (const name of namesOf("job")) await database.query(`delete from ${name}`);
}

/** Runs a test only on PostgreSQL, for example if it needs several connections. Skips it without `TEST_DATABASE_URL`. */
export function onPostgres(name: string, fn: (database: Database) => Promise<void>): void {
  const skip = DATABASE_URL === undefined ? "TEST_DATABASE_URL is not set" : false;
  test(`${name} [postgres]`, { skip }, async () => {
    const database = await postgresDatabase();
    await clearTables(database);
    await fn(database);
  });
}

/** Runs a test only on the embedded store. Before the test all tables exist and are empty. */
export function onEmbedded(name: string, fn: (database: Database) => Promise<void>): void {
  test(`${name} [embedded]`, async () => {
    const database = await embeddedDatabase();
    await clearTables(database);
    await fn(database);
  });
}

/**
 * Runs a test on the embedded store, and on PostgreSQL if `TEST_DATABASE_URL` is set. Before each test all tables exist
 * and are empty.
 */
export function eachDatabase(name: string, fn: (database: Database) => Promise<void>): void {
  onEmbedded(name, fn);
  onPostgres(name, fn);
}
