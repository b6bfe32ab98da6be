import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";
import { acquireDataDirLock } from "../system/data-dir-lock.ts";
import { createDiskSpaceGuard, type DiskSpaceGuard, readFreeBytes } from "./disk-space-guard.ts";
import { storeUnavailable } from "./errors.ts";
import { type PgliteClient, startPgliteClient } from "./pglite-client.ts";
import { runTransaction, type SqlSession } from "./session.ts";
import { createStatementQueue, type StatementQueue } from "./statement-queue.ts";

/** Limit of queued statements and transactions. Further statements fail with `store_unavailable`. */
const QUEUED_STATEMENTS_MAX = 4_096;
/** Longest time in the queue. It ends the deadlock of a caller that awaits a query outside its own open transaction. */
const QUEUED_MS_MAX = 30_000;
const STORE_FOLDER = "store";
/** Space for two segments of the write-ahead log (16 MiB each) and for a checkpoint of the same size. */
const DISK_RESERVE_BYTES = 64 * 2 ** 20;

/** Opens a session that acquires the queue's lock for each statement, or once for a whole transaction. */
function openSession(client: PgliteClient, queue: StatementQueue, assertDiskSpace: DiskSpaceGuard): SqlSession {
  let releaseLock: (() => void) | null = null;
  /** Generation of the engine in which the transaction began. */
  let generation = 0;
  const assertTransactionNotLost = () => {
    if (client.generation !== generation)
      throw storeUnavailable("The store was restarted and the transaction is lost.");
  };
  return {
    async run(text, parameters) {
      await assertDiskSpace(text);
      if (releaseLock !== null) {
        assertTransactionNotLost();
        return client.run(text, parameters);
      }
      const unlock = await queue.acquire();
      try {
        return await client.run(text, parameters);
      } finally {
        unlock();
      }
    },
    async begin() {
      const unlock = await queue.acquire();
      try {
        await client.run("start transaction", []);
      } catch (error) {
        unlock();
        throw error;
      }
      generation = client.generation;
      releaseLock = unlock;
    },
    async end(statement) {
      const unlock = releaseLock;
      if (unlock === null) return;
      releaseLock = null;
      try {
        if (client.generation === generation) await client.run(statement, []);
        else if (statement === "commit") assertTransactionNotLost();
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
  /** Free disk space below which writes are refused; 64 MiB by default, 0 never refuses. */
  readonly reserveBytes?: number;
  /** For tests: free bytes on the disk of the data directory, null if unknown. */
  readonly freeBytes?: () => Promise<number | null>;
  /** For tests: starts the store's worker thread. */
  readonly spawn?: Parameters<typeof startPgliteClient>[0]["spawn"];
}): Promise<Database> {
  const { dataDir, log, spawn } = options;
  if (dataDir !== null) await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const lock = dataDir === null ? null : await acquireDataDirLock(dataDir);
  let client: PgliteClient;
  try {
    const folder = dataDir === null ? null : join(dataDir, STORE_FOLDER);
    client = await startPgliteClient({ folder, log, spawn });
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
  const queue = createStatementQueue({ queuedMax: QUEUED_STATEMENTS_MAX, queuedMsMax: QUEUED_MS_MAX });
  const autocommitSession = openSession(client, queue, assertDiskSpace);
  return {
    async query<Row extends Record<string, unknown>>(text: string, parameters: readonly unknown[] = []) {
      return (await autocommitSession.run(text, parameters)) as Row[];
    },
    transaction: (work) => runTransaction(async () => openSession(client, queue, assertDiskSpace), work),
    async close() {
      await client.close();
      await lock?.release();
    },
  };
}
