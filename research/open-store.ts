/** Opens the store of the service for reading. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openEmbeddedDatabase, STORE_FOLDER } from "../src/adapters/database/embedded-database.ts";
import { openPostgresDatabase } from "../src/adapters/database/postgres-database.ts";
import type { Database } from "../src/ports/database.ts";
import type { Log } from "../src/ports/log.ts";

const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silentLog };

/**
 * Opens a store, calls `read` and closes the store.
 *
 * @param store  PostgreSQL URL, or data directory of a service that is not running
 * @throws Error if the directory contains no store, and `AppError` if the database server is not available
 */
export async function withStore<Result>(store: string, read: (database: Database) => Promise<Result>): Promise<Result> {
  const isUrl = /^postgres(ql)?:\/\//.test(store);
  if (!isUrl && !existsSync(join(store, STORE_FOLDER))) throw new Error(`${store} contains no store`);
  const database = isUrl
    ? await openPostgresDatabase({ url: store, log: silentLog })
    : await openEmbeddedDatabase({ dataDir: store, log: silentLog });
  try {
    return await read(database);
  } finally {
    await database.close();
  }
}
