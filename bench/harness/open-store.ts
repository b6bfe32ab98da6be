import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { migrateDatabase } from "../../src/adapters/database/migrations.ts";
import { openPostgresDatabase } from "../../src/adapters/database/postgres-database.ts";
import type { Database } from "../../src/ports/database.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { temporaryFolder } from "../../test/support/service-process.ts";

/**
 * Opens a store and creates its tables.
 *
 * @param kind      "embedded", or "postgres" for the server in `TEST_DATABASE_URL`
 * @param location  folder of the embedded store, or schema
 */
export async function openStore(kind: string, location: string): Promise<Database> {
  const database =
    kind === "embedded"
      ? await openEmbeddedDatabase({ dataDir: location, log: quietLog })
      : await openPostgresDatabase({ url: process.env.TEST_DATABASE_URL ?? "", schema: location, log: quietLog });
  await migrateDatabase(database);
  return database;
}

/** Opens an empty embedded store in a temporary folder. `closers` closes the store and removes the folder. */
export async function openTemporaryStore(closers: AsyncDisposableStack): Promise<Database> {
  const folder = await temporaryFolder();
  closers.defer(folder.release);
  const database = await openStore("embedded", folder.path);
  closers.defer(() => database.close());
  return database;
}
