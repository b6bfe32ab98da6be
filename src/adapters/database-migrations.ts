import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Kysely, sql } from "kysely";
import { Migrator } from "kysely/migration";
import type { Database } from "../ports/database.ts";

const MIGRATIONS_FOLDER = fileURLToPath(new URL("../../migrations/", import.meta.url));
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

const LOOKS_AGAIN_MAX = 5;
/** PostgreSQL's code for a schema that is not there. */
const INVALID_SCHEMA_NAME = "3F000";

const isSchemaGone = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === INVALID_SCHEMA_NAME;

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
  let { error, results } = await migrator.migrateToLatest();
  // The migrator looks at every schema of the server: one that is dropped meanwhile, by whomever, is no fault of ours.
  for (let again = 0; isSchemaGone(error) && again < LOOKS_AGAIN_MAX; again++) {
    ({ error, results } = await migrator.migrateToLatest());
  }
  if (error !== undefined) {
    const failed = results?.find((result) => result.status === "Error")?.migrationName;
    const what = failed === undefined ? "The store could not be brought up to date" : `Migration ${failed} failed`;
    throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  return (results ?? []).map((result) => result.migrationName);
}
