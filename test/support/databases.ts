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
  const partitions = await database.query<{ name: string }>(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'ticks'::regclass",
  );
  for (const { name } of partitions) await database.query(`drop table ${name}`);
  const tables = await database.query<{ name: string }>(
    `select quote_ident(tablename) as name from pg_tables
     where schemaname = current_schema() and tablename <> 'schema_migrations'`,
  );
  // Truncates only the few tables with rows, because truncating a table recreates its files.
  const checks = tables.map(({ name }) => `select '${name}' as name where exists (select from ${name})`);
  const nonEmpty = await database.query<{ name: string }>(checks.join(" union all "));
  if (nonEmpty.length > 0)
    await database.query(`truncate ${nonEmpty.map(({ name }) => name).join(", ")} restart identity cascade`);
  const jobTables = await database.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where tablename = 'job' and schemaname in ('parallax_jobs', current_schema() || '_jobs')`,
  );
  for (const { name } of jobTables) await database.query(`delete from ${name}`);
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
