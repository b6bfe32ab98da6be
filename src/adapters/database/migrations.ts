import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Database, Transaction } from "../../ports/database.ts";

const MIGRATIONS_FOLDER = fileURLToPath(new URL("../../../migrations/", import.meta.url));
const MIGRATION_FILE = /^\d{4}-[a-z0-9-]+\.sql$/;
/** The table's name and the lock's id are those of the Kysely migrator, which created the existing stores. */
const CREATE_MIGRATION_TABLE =
  "create table kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null)";
const HAS_MIGRATION_TABLE =
  "select to_regclass(quote_ident(current_schema()) || '.kysely_migration') is not null as exists";
const LOCK_ID = "3853314791062309107";

/** The statements of a migration file: each ends with a semicolon at the end of a line. Comment lines are removed. */
export function splitStatements(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => !line.trimStart().startsWith("--"))
    .join("\n")
    .split(/;[ \t]*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}

/** The names of all migrations, in the order in which they are applied. */
async function listMigrations(): Promise<string[]> {
  const files = (await readdir(MIGRATIONS_FOLDER)).filter((name) => MIGRATION_FILE.test(name)).sort();
  return files.map((name) => name.replace(/\.sql$/, ""));
}

/** Compares the store's schema with this version without changing it; null when they match. */
export async function findVersionFault(database: Database): Promise<"missing" | "older" | "newer" | null> {
  const [table] = await database.query<{ exists: boolean }>(HAS_MIGRATION_TABLE);
  if (table?.exists !== true) return "missing";
  const applied = await database.query<{ name: string }>("select name from kysely_migration");
  const known = await listMigrations();
  if (applied.some(({ name }) => !known.includes(name))) return "newer";
  return applied.length < known.length ? "older" : null;
}

/**
 * Applies all pending files of `migrations/` in one transaction. A lock ensures that nodes which start simultaneously
 * apply them once. Returns the names applied. Throws when a migration fails (then none is applied) or when a newer
 * version created the store.
 */
export async function migrateDatabase(database: Database): Promise<readonly string[]> {
  const known = await listMigrations();
  let current: string | null = null;
  try {
    return await database.transaction(async (transaction) => {
      await acquireLock(transaction);
      const pending = known.slice(await countApplied(transaction, known));
      for (const name of pending) {
        current = name;
        await applyMigration(transaction, name);
      }
      current = null;
      return pending;
    });
  } catch (error) {
    const problem = current === null ? "The store could not be brought up to date" : `Migration ${current} failed`;
    throw new Error(`${problem}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** Waits for the lock without the usual lock timeout; the statement timeout still applies. */
async function acquireLock(transaction: Transaction): Promise<void> {
  await transaction.query("set local lock_timeout = 0");
  await transaction.query(`select pg_advisory_xact_lock(${LOCK_ID})`);
  await transaction.query("set local lock_timeout to default");
}

/** Checks that the applied migrations are the first of the known ones. */
async function countApplied(transaction: Transaction, known: readonly string[]): Promise<number> {
  const [table] = await transaction.query<{ exists: boolean }>(HAS_MIGRATION_TABLE);
  // Not `create … if not exists`: with a full disk a store that is up to date must still open, and that refuses writes.
  if (table?.exists !== true) await transaction.query(CREATE_MIGRATION_TABLE);
  const rows = await transaction.query<{ name: string }>("select name from kysely_migration");
  const applied = rows.map(({ name }) => name).sort();
  const unknown = applied.find((name, index) => name !== known[index]);
  if (unknown !== undefined) {
    throw new Error(`migration ${unknown} is applied but unknown to this version; a newer version created the store`);
  }
  return applied.length;
}

async function applyMigration(transaction: Transaction, name: string): Promise<void> {
  // A migration takes as long as the amount of data requires.
  await transaction.query("set local statement_timeout = 0");
  for (const statement of splitStatements(await readFile(join(MIGRATIONS_FOLDER, `${name}.sql`), "utf8")))
    await transaction.query(statement);
  await transaction.query("insert into kysely_migration (name, timestamp) values ($1, $2)", [
    name,
    new Date().toISOString(),
  ]);
}
