import { cp, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { openEmbeddedDatabase } from "../../src/adapters/database-embedded.ts";
import { migrateDatabase } from "../../src/adapters/database-migrations.ts";
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
  if (process.env[SETTING] === undefined) await makeNewStore(dataDir);
  else await copyStoreTemplate(dataDir);
}

async function makeNewStore(dataDir: string): Promise<void> {
  const database = await openEmbeddedDatabase({ dataDir, log: quietLog });
  await migrateDatabase(database);
  await database.close();
}

/**
 * Puts a copy of the run's empty store into a data directory that has none: making one anew takes three seconds of a
 * core, and tests need a hundred of them. Where `npm test` did not make it, for one file run alone, the engine does.
 */
export async function copyStoreTemplate(dataDir: string): Promise<void> {
  const template = process.env[SETTING];
  if (template === undefined) return;
  const isThere = await stat(join(dataDir, STORE)).then(
    () => true,
    () => false,
  );
  if (isThere) return;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await cp(join(template, STORE), join(dataDir, STORE), { recursive: true });
}
