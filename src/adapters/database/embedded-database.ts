import { join } from "node:path";
import type { MessagePort } from "node:worker_threads";
import type { Database } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";
import { acquireDataDirLock } from "../system/data-dir-lock.ts";
import { ensurePrivateDir } from "../system/private-dir.ts";
import { createDiskSpaceGuard, type DiskSpaceGuard, readFreeBytes } from "./disk-space-guard.ts";
import { openEmbeddedSession } from "./embedded-session.ts";
import { type PgliteClient, type PgliteEnvironment, startPgliteClient } from "./pglite-client.ts";
import { runTransaction } from "./session.ts";
import { connectToEngine, serveEngineSlots } from "./shared-engine.ts";
import { createStatementQueue } from "./statement-queue.ts";

/** Maximum number of queued statements and transactions. Further statements fail with `store_unavailable`. */
const QUEUED_STATEMENTS_MAX = 4_096;
/** Maximum time in the queue. It resolves the deadlock of a caller that awaits a query outside its own transaction. */
const QUEUED_MS_MAX = 30_000;
/** Folder of the store in the data directory. */
export const STORE_FOLDER = "store";
/** Space for two segments of the write-ahead log (16 MiB each) and for a checkpoint of the same size. */
const DISK_RESERVE_BYTES = 64 * 2 ** 20;

/** The embedded store, which other threads of this process can use. */
export interface EmbeddedDatabase extends Database {
  /** Serves the store to the thread that has the other end of the port (`openSharedDatabase`). */
  share(port: MessagePort): void;
}

/**
 * The embedded store: PGlite in a worker thread, in `<dataDir>/store` or in memory if `dataDir` is null.
 *
 * The data directory is locked first, so a second process fails with `DataDirLockedError` and changes nothing. If the
 * process is killed, no acknowledged write is lost. A power cut can lose writes, because the engine does not flush the
 * disk's cache.
 */
export async function openEmbeddedDatabase(options: {
  readonly dataDir: string | null;
  readonly log: Log;
  /** Free disk space below which writes are rejected; 64 MiB by default, 0 to reject none. */
  readonly reserveBytes?: number;
  /** For tests: free bytes on the disk of the data directory, null if unknown. */
  readonly freeBytes?: () => Promise<number | null>;
  /** Whether every statement that writes fails with `store_unavailable`; false by default. */
  readonly isReadOnly?: boolean;
  readonly environment?: Partial<PgliteEnvironment>;
}): Promise<EmbeddedDatabase> {
  const { dataDir, log, environment, isReadOnly } = options;
  if (dataDir !== null) await ensurePrivateDir(dataDir, log);
  const lock = dataDir === null ? null : await acquireDataDirLock(dataDir);
  let client: PgliteClient;
  try {
    const folder = dataDir === null ? null : join(dataDir, STORE_FOLDER);
    if (folder !== null) await ensurePrivateDir(folder, log);
    client = await startPgliteClient({ folder, isReadOnly, log, environment });
  } catch (error) {
    await lock?.release();
    throw error;
  }
  const assertDiskSpace = openDiskSpaceGuard({ ...options, reserveBytes: options.reserveBytes ?? DISK_RESERVE_BYTES });
  const queue = createStatementQueue({ running: 1, waiting: QUEUED_STATEMENTS_MAX });
  const acquire = async () => {
    const release = await queue.acquire(QUEUED_MS_MAX);
    try {
      return { engine: await client.requireEngine(), release };
    } catch (error) {
      release();
      throw error;
    }
  };
  const openSession = () => openEmbeddedSession(acquire, assertDiskSpace);
  const autocommitSession = openSession();
  return {
    async query<Row extends object>(text: string, parameters: readonly unknown[] = []) {
      return (await autocommitSession.run(text, parameters)) as Row[];
    },
    transaction: (work) => runTransaction(async () => openSession(), work),
    share: (port) => serveEngineSlots(port, acquire),
    async close() {
      await client.close();
      await lock?.release();
    },
  };
}

/** Opens the embedded store in a thread to which the thread that has opened it serves it (`EmbeddedDatabase.share`). */
export function openSharedDatabase(
  port: MessagePort,
  options: { readonly dataDir: string | null; readonly reserveBytes: number; readonly log: Log },
): Database {
  const { log } = options;
  return connectToEngine(port, {
    assertDiskSpace: openDiskSpaceGuard(options),
    onCheckpointFailure: (err) => log.warn({ err }, "a checkpoint of the embedded store failed and will be retried"),
  });
}

function openDiskSpaceGuard({
  dataDir,
  reserveBytes,
  freeBytes = () => readFreeBytes(dataDir ?? ""),
  log,
}: {
  readonly dataDir: string | null;
  readonly reserveBytes: number;
  readonly freeBytes?: () => Promise<number | null>;
  readonly log: Log;
}): DiskSpaceGuard {
  return createDiskSpaceGuard({
    reserveBytes: dataDir === null ? 0 : reserveBytes,
    freeBytes,
    monotonic: () => performance.now(),
    log,
  });
}
