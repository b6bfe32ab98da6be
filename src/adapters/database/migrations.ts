import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { UserFacingError } from "../../lib/user-facing-error.ts";
import type { Database, Transaction } from "../../ports/database.ts";

const MIGRATIONS_FOLDER = fileURLToPath(new URL("../../../migrations/", import.meta.url));
const MIGRATION_FILE_PATTERN = /^\d{4}-[a-z0-9-]+\.sql$/;
/** Thrown if a newer version has migrated the store, which this version then cannot use. */
class NewerStoreError extends UserFacingError {
  override readonly name = "NewerStoreError";
}

/** Id of the advisory lock. */
const LOCK_ID = "5190457718236640913";

/** Splits a migration file into statements, which end with a semicolon at the end of a line. Removes comment lines. */
export function splitStatements(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => !line.trimStart().startsWith("--"))
    .join("\n")
    .split(/;[ \t]*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}

/** Returns the names of all migrations, in the order in which they are applied. */
async function listMigrations(): Promise<string[]> {
  const files = (await readdir(MIGRATIONS_FOLDER)).filter((name) => MIGRATION_FILE_PATTERN.test(name)).sort();
  return files.map((name) => name.replace(/\.sql$/, ""));
}

/** Returns the names of the applied migrations in order, or null if the store has no table of migrations. */
async function readApplied(source: Pick<Transaction, "query">): Promise<string[] | null> {
  const [table] = await source.query<{ exists: boolean }>(
    "select to_regclass(quote_ident(current_schema()) || '.schema_migrations') is not null as exists",
  );
  if (table?.exists !== true) return null;
  const rows = await source.query<{ name: string }>("select name from schema_migrations");
  return rows.map(({ name }) => name).sort();
}

/** Compares the store's schema with this version without changing the schema. Returns null if they match. */
export async function findVersionFault(database: Database): Promise<"missing" | "older" | "newer" | null> {
  const [applied, known] = [await readApplied(database), await listMigrations()];
  if (applied === null) return "missing";
  if (applied.some((name) => !known.includes(name))) return "newer";
  return applied.length < known.length ? "older" : null;
}

export interface AppliedMigration {
  readonly name: string;
  /** Duration in milliseconds. */
  readonly ms: number;
}

/**
 * Applies all pending files of `migrations/` in one transaction and returns them. A lock ensures that nodes which start
 * simultaneously apply them once.
 *
 * @throws NewerStoreError if the store has a migration that this version does not have
 * @throws Error if a migration fails; the store is then unchanged
 */
export async function migrateDatabase(database: Database): Promise<readonly AppliedMigration[]> {
  const knownNames = await listMigrations();
  let runningMigration: string | null = null;
  try {
    return await database.transaction(async (transaction) => {
      await acquireLock(transaction);
      const pending = knownNames.slice(await countApplied(transaction, knownNames));
      const applied: AppliedMigration[] = [];
      for (const name of pending) {
        runningMigration = name;
        const startedAt = performance.now();
        await applyMigration(transaction, name);
        applied.push({ name, ms: Math.round(performance.now() - startedAt) });
      }
      runningMigration = null;
      return applied;
    });
  } catch (error) {
    if (error instanceof NewerStoreError) throw error;
    const problem =
      runningMigration === null ? "The store could not be brought up to date" : `Migration ${runningMigration} failed`;
    throw new Error(`${problem}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** Acquires the migration lock without the usual lock timeout. The statement timeout still applies. */
async function acquireLock(transaction: Transaction): Promise<void> {
  await transaction.query("set local lock_timeout = 0");
  await transaction.query(`select pg_advisory_xact_lock(${LOCK_ID})`);
  await transaction.query("set local lock_timeout to default");
}

/** Returns the number of applied migrations. Throws unless they are the first of the known migrations. */
async function countApplied(transaction: Transaction, known: readonly string[]): Promise<number> {
  const applied = await readApplied(transaction);
  if (applied === null) {
    // Not `create … if not exists`, which needs disk space: an up-to-date store must open even if the disk is full.
    await transaction.query(
      "create table schema_migrations (name text primary key, applied_at timestamptz not null default now())",
    );
    return 0;
  }
  const unknown = applied.find((name, index) => name !== known[index]);
  if (unknown !== undefined) {
    throw new NewerStoreError(
      `A newer version of Parallax has changed this store (migration ${unknown}): start that version again, or choose another store with PARALLAX_DATA_DIR or DATABASE_URL.`,
    );
  }
  return applied.length;
}

async function applyMigration(transaction: Transaction, name: string): Promise<void> {
  // No timeout, because the duration of a migration depends on the amount of data.
  await transaction.query("set local statement_timeout = 0");
  for (const statement of splitStatements(await readFile(join(MIGRATIONS_FOLDER, `${name}.sql`), "utf8")))
    await transaction.query(statement);
  await transaction.query("insert into schema_migrations (name) values ($1)", [name]);
}
