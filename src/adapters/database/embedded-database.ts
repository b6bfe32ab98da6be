import { join } from "node:path";
import type { Database } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";
import { acquireDataDirLock } from "../system/data-dir-lock.ts";
import { ensurePrivateDir } from "../system/private-dir.ts";
import { createDiskSpaceGuard, type DiskSpaceGuard, needsDiskSpace, readFreeBytes } from "./disk-space-guard.ts";
import { storeUnavailable } from "./errors.ts";
import { type PgliteClient, type PgliteEnvironment, startPgliteClient } from "./pglite-client.ts";
import type { PgliteEngine } from "./pglite-engine.ts";
import { runTransaction, type SqlSession } from "./session.ts";
import { createStatementQueue, type StatementQueue } from "./statement-queue.ts";

/** Maximum number of queued statements and transactions. Further statements fail with `store_unavailable`. */
const QUEUED_STATEMENTS_MAX = 4_096;
/** Maximum time in the queue. It resolves the deadlock of a caller that awaits a query outside its own transaction. */
const QUEUED_MS_MAX = 30_000;
/** Folder of the store in the data directory. */
export const STORE_FOLDER = "store";
/** Space for two segments of the write-ahead log (16 MiB each) and for a checkpoint of the same size. */
const DISK_RESERVE_BYTES = 64 * 2 ** 20;

/** Opens a session that acquires the queue's slot for each statement, or once for a whole transaction. */
function openSession(client: PgliteClient, queue: StatementQueue, assertDiskSpace: DiskSpaceGuard): SqlSession {
  let transaction: { readonly engine: PgliteEngine; readonly unlock: () => void } | null = null;
  const runStatement = async (engine: PgliteEngine, text: string, parameters: readonly unknown[]) => {
    if (engine.hasDamagedFiles && needsDiskSpace(text))
      throw storeUnavailable("The store cannot create files: it refuses writes until it is restarted.");
    return engine.run(text, parameters);
  };
  return {
    async run(text, parameters) {
      await assertDiskSpace(text);
      if (transaction !== null) return runStatement(transaction.engine, text, parameters);
      const unlock = await queue.acquire(QUEUED_MS_MAX);
      try {
        return await runStatement(await client.requireEngine(), text, parameters);
      } finally {
        unlock();
      }
    },
    async begin() {
      const unlock = await queue.acquire(QUEUED_MS_MAX);
      try {
        const engine = await client.requireEngine();
        await engine.run("start transaction", []);
        transaction = { engine, unlock };
      } catch (error) {
        unlock();
        throw error;
      }
    },
    async end(statement) {
      if (transaction === null) return;
      const { engine, unlock } = transaction;
      transaction = null;
      try {
        // An engine that ends rolls its transaction back, so the commit must then fail.
        if (statement === "commit" || !engine.hasEnded) await engine.run(statement, []);
      } finally {
        unlock();
      }
    },
    async release() {
      await this.end("rollback");
    },
  };
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
}): Promise<Database> {
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
  const assertDiskSpace = createDiskSpaceGuard({
    reserveBytes: dataDir === null ? 0 : (options.reserveBytes ?? DISK_RESERVE_BYTES),
    freeBytes: options.freeBytes ?? (() => readFreeBytes(dataDir ?? "")),
    monotonic: () => performance.now(),
    log,
  });
  const queue = createStatementQueue({ running: 1, waiting: QUEUED_STATEMENTS_MAX });
  const autocommitSession = openSession(client, queue, assertDiskSpace);
  return {
    async query<Row extends object>(text: string, parameters: readonly unknown[] = []) {
      return (await autocommitSession.run(text, parameters)) as Row[];
    },
    transaction: (work) => runTransaction(async () => openSession(client, queue, assertDiskSpace), work),
    async close() {
      await client.close();
      await lock?.release();
    },
  };
}
