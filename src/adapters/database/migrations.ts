import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Kysely, sql } from "kysely";
import { type MigrationResultSet, Migrator } from "kysely/migration";
import type { Database } from "../../ports/database.ts";

const MIGRATIONS_FOLDER = fileURLToPath(new URL("../../../migrations/", import.meta.url));
const MIGRATION_FILE = /^\d{4}-[a-z0-9-]+\.sql$/;

/** The statements of a migration file: each ends with a semicolon at the end of a line. Comment lines are left out. */
export function splitStatements(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => !line.trimStart().startsWith("--"))
    .join("\n")
    .split(/;[ \t]*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}

const LOOKS_AGAIN_MAX = 10;
/** PostgreSQL's codes for a schema or table that is not there, and for one that vanishes while it is looked up. */
const GONE = new Set<unknown>(["3F000", "42P01", "XX000"]);

/** Something vanished while the migrator looked at what there is; no migration had begun by then. */
const hasMissedItsFooting = ({ error, results = [] }: MigrationResultSet): boolean =>
  error instanceof Error &&
  "code" in error &&
  GONE.has(error.code) &&
  !results.some(({ status }) => status === "Error");

async function readMigrations(folder: string) {
  const names = (await readdir(folder)).filter((name) => MIGRATION_FILE.test(name)).sort();
  const migrations: Record<string, { up(kysely: Kysely<unknown>): Promise<void> }> = {};
  for (const name of names) {
    const statements = splitStatements(await readFile(join(folder, name), "utf8"));
    migrations[name.replace(/\.sql$/, "")] = {
      async up(kysely) {
        // A migration may take as long as the data asks for; the limit of a served statement does not suit it.
        await sql`set local statement_timeout = 0`.execute(kysely);
        for (const statement of statements) await sql.raw(statement).execute(kysely);
      },
    };
  }
  return migrations;
}

/** Whether the store is this version's, without a change to it: null where it is. */
export async function findVersionFault(
  database: Database,
  folder = MIGRATIONS_FOLDER,
): Promise<"missing" | "older" | "newer" | null> {
  const [log] = await database.query<{ is_there: boolean }>(
    "select to_regclass('kysely_migration') is not null as is_there",
  );
  if (log?.is_there !== true) return "missing";
  const applied = await database.query<{ name: string }>("select name from kysely_migration");
  const known = Object.keys(await readMigrations(folder));
  if (applied.some(({ name }) => !known.includes(name))) return "newer";
  return applied.length < known.length ? "older" : null;
}

/**
 * Brings the store's tables up to this version: all pending files of `migrations/` in one transaction, under a lock, so
 * nodes that start together do it once. Returns the names applied. Throws when one fails (nothing of it then remains) or
 * when the store was made by a newer version.
 */
export async function migrateDatabase(database: Database, folder = MIGRATIONS_FOLDER): Promise<readonly string[]> {
  const [home] = await database.query<{ schema: string | null }>("select current_schema() as schema");
  const migrator = new Migrator({
    db: database.kysely,
    provider: { getMigrations: () => readMigrations(folder) },
    ...(home?.schema == null ? {} : { migrationTableSchema: home.schema }),
  });
  let outcome = await migrator.migrateToLatest();
  // The migrator looks at every schema of the server: one that is dropped meanwhile, by whomever, is no fault of ours.
  for (let again = 0; hasMissedItsFooting(outcome) && again < LOOKS_AGAIN_MAX; again++) {
    outcome = await migrator.migrateToLatest();
  }
  const { error, results } = outcome;
  if (error !== undefined) {
    const failed = results?.find((result) => result.status === "Error")?.migrationName;
    const what = failed === undefined ? "The store could not be brought up to date" : `Migration ${failed} failed`;
    throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  return (results ?? []).map((result) => result.migrationName);
}
