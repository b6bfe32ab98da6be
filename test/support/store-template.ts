import { cpSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { migrateDatabase } from "../../src/adapters/database/migrations.ts";
import { quietLog } from "./quiet-log.ts";

const SETTING = "TEST_STORE_TEMPLATE";
const STORE = "store";

/** Makes an empty embedded store, migrated, that the tests of this run begin with. */
export async function makeStoreTemplate(dataDir: string): Promise<void> {
  await makeNewStore(dataDir);
  process.env[SETTING] = dataDir;
}

/** An empty embedded store, migrated, for a program that only works on one that is there. */
export async function makeStore(dataDir: string): Promise<void> {
  if (!(await copyStoreTemplate(dataDir))) await makeNewStore(dataDir);
}

async function makeNewStore(dataDir: string): Promise<void> {
  const database = await openEmbeddedDatabase({ dataDir, log: quietLog });
  await migrateDatabase(database);
  await database.close();
}

/**
 * Puts a copy of the run's empty store into a data directory that has none: making one anew takes three seconds of a
 * core, and tests need a hundred of them. Where `npm test` did not make it, for one file run alone, the engine does.
 *
 * @returns whether the store is a copy, and so needs no migration
 */
export async function copyStoreTemplate(dataDir: string): Promise<boolean> {
  const template = process.env[SETTING];
  if (template === undefined) return false;
  const isThere = await stat(join(dataDir, STORE)).then(
    () => true,
    () => false,
  );
  if (isThere) return false;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // A thousand small files: one by one through the thread pool they take three times as long.
  cpSync(join(template, STORE), join(dataDir, STORE), { recursive: true });
  return true;
}
