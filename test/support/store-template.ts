import { chmodSync, cpSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { migrateDatabase } from "../../src/adapters/database/migrations.ts";
import { quietLog } from "./quiet-log.ts";

const TEMPLATE_VARIABLE = "TEST_STORE_TEMPLATE";
const STORE_DIR = "store";

/** Creates the template: an empty embedded store with all migrations applied, which the tests of this run copy. */
export async function makeStoreTemplate(dataDir: string): Promise<void> {
  await makeNewStore(dataDir);
  process.env[TEMPLATE_VARIABLE] = dataDir;
}

/** Creates an empty embedded store with all migrations applied, for a program that requires an existing store. */
export async function makeStore(dataDir: string): Promise<void> {
  if (!(await copyStoreTemplate(dataDir))) await makeNewStore(dataDir);
}

async function makeNewStore(dataDir: string): Promise<void> {
  const database = await openEmbeddedDatabase({ dataDir, log: quietLog });
  await migrateDatabase(database);
  await database.close();
}

/**
 * Copies the template store into a data directory that has no store. Creating and migrating a store takes 1.5 seconds of
 * CPU time, and the tests need about 100 stores. If there is no template (a test file run alone), it does nothing.
 *
 * @returns whether a copy was made; a copy needs no migration
 */
export async function copyStoreTemplate(dataDir: string): Promise<boolean> {
  const template = process.env[TEMPLATE_VARIABLE];
  if (template === undefined) return false;
  const hasStore = await stat(join(dataDir, STORE_DIR)).then(
    () => true,
    () => false,
  );
  if (hasStore) return false;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // The store has a thousand small files. Copying them asynchronously takes three times as long.
  cpSync(join(template, STORE_DIR), join(dataDir, STORE_DIR), { recursive: true });
  // The service logs a warning if it has to remove permissions.
  chmodSync(join(dataDir, STORE_DIR), 0o700);
  return true;
}
