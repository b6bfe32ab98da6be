import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Database, Transaction } from "../../ports/database.ts";

const META_KEY = "store_location";
/** File whose inode and birth time identify a data directory. A copied or unpacked directory has other values. */
const INSTANCE_FILE = "store-instance";

/**
 * Returns a fingerprint that identifies this instance of the store. A restored backup has another fingerprint, unless a
 * snapshot of the underlying storage was restored.
 *
 * - Embedded store: inode and birth time of a file in the data directory.
 * - PostgreSQL: the cluster, and the object id of a table, which a restore creates again.
 *
 * @param dataDir  data directory of the embedded store; null for a database server
 */
export async function identifyStoreInstance(database: Database, dataDir: string | null): Promise<string> {
  if (dataDir !== null) {
    const path = join(dataDir, INSTANCE_FILE);
    await writeFile(path, "", { flag: "a", mode: 0o600 });
    const { ino, birthtimeMs } = await stat(path);
    return `directory:${ino}:${Math.round(birthtimeMs)}`;
  }
  const [row] = await database.query<{ cluster: string; meta: string }>(
    "select system_identifier::text as cluster, 'meta'::regclass::oid::text as meta from pg_control_system()",
  );
  return `database:${row?.cluster}:${row?.meta}`;
}

/**
 * Compares the fingerprint with the stored fingerprint and stores it. If the store was restored from a backup, calls
 * `onRestored` in the same transaction. If several nodes start at the same time, only one calls it.
 *
 * @param options.isRestored  set by the operator; null to compare the fingerprints
 */
export async function recordStoreInstance(
  database: Database,
  location: string,
  options: {
    readonly isRestored: boolean | null;
    readonly onRestored: (transaction: Transaction) => Promise<void>;
  },
): Promise<void> {
  const [known] = await database.query<{ value: string }>(`select value from meta where key = '${META_KEY}'`);
  // Writes nothing if the fingerprint is current, because a store must open even if the disk is full.
  if (known?.value === location && options.isRestored !== true) return;
  await database.transaction(async (transaction) => {
    await transaction.query(`insert into meta (key, value) values ('${META_KEY}', $1) on conflict (key) do nothing`, [
      location,
    ]);
    const [stored] = await transaction.query<{ value: string }>(
      `select value from meta where key = '${META_KEY}' for update`,
    );
    const isRestored = options.isRestored ?? stored?.value !== location;
    await transaction.query(`update meta set value = $1 where key = '${META_KEY}'`, [location]);
    if (isRestored) await options.onRestored(transaction);
  });
}
