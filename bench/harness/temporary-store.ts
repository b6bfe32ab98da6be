import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { migrateDatabase } from "../../src/adapters/database/migrations.ts";
import type { Database } from "../../src/ports/database.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { temporaryFolder } from "../../test/support/service-process.ts";

/** Opens an empty embedded store in a temporary folder. `closers` closes the store and removes the folder. */
export async function openTemporaryStore(closers: AsyncDisposableStack): Promise<Database> {
  const folder = await temporaryFolder();
  closers.defer(folder.release);
  const database = await openEmbeddedDatabase({ dataDir: folder.path, log: quietLog });
  closers.defer(() => database.close());
  await migrateDatabase(database);
  return database;
}
