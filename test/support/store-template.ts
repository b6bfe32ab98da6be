import { cpSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { migrateDatabase } from "../../src/adapters/database/migrations.ts";
import { quietLog } from "./quiet-log.ts";

const SETTING = "TEST_STORE_TEMPLATE";
const STORE = "store";

/** Creates an empty, migrated embedded store that the tests of this run copy. */
export async function makeStoreTemplate(dataDir: string): Promise<void> {
  await makeNewStore(dataDir);
  process.env[SETTING] = dataDir;
}

/** An empty, migrated embedded store, for a program that requires an existing store. */
export async function makeStore(dataDir: string): Promise<void> {
  if (!(await copyStoreTemplate(dataDir))) await makeNewStore(dataDir);
}

async function makeNewStore(dataDir: string): Promise<void> {
  const database = await openEmbeddedDatabase({ dataDir, log: quietLog });
  await migrateDatabase(database);
  await database.close();
}

/**
 * Copies the empty store of this test run into a data directory without one. Creating a store takes three seconds of CPU
 * time, and the tests need a hundred of them. Without a template (a test file run alone) it does nothing.
 *
 * @returns whether the directory now has a copy, which needs no migration
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
  // The store has a thousand small files. Copying them through the thread pool takes three times as long.
  cpSync(join(template, STORE), join(dataDir, STORE), { recursive: true });
  return true;
}
