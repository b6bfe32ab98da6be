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

/** Statements and transactions that may wait for their turn; beyond it the store says it is unavailable. */
const EMBEDDED_WAITING_MAX = 4_096;
/** Longest wait for a turn. Also ends the wait of a statement sent past the transaction that its caller holds open. */
const EMBEDDED_WAIT_MS_MAX = 30_000;
const STORE_FOLDER = "store";
/** Two segments of the engine's log, and as much again for what a checkpoint adds. */
const RESERVE_BYTES = 64 * 2 ** 20;

/** A conversation that waits for its turn statement by statement, and keeps the turn for a whole transaction. */
function openSession(client: PgliteClient, turns: StatementQueue, room: DiskSpaceGuard): SqlSession {
  let endTurn: (() => void) | null = null;
  let begunIn = 0;
  const assertNotLost = () => {
    if (client.generation !== begunIn) throw storeUnavailable("The store was started again; this transaction is lost.");
  };
  return {
    async run(text, parameters) {
      await room.assertFor(text);
      if (endTurn !== null) {
        assertNotLost();
        return client.run(text, parameters);
      }
      const end = await turns.take();
      try {
        return await client.run(text, parameters);
      } finally {
        end();
      }
    },
    async begin() {
      const end = await turns.take();
      try {
        await client.run("start transaction", []);
      } catch (error) {
        end();
        throw error;
      }
      begunIn = client.generation;
      endTurn = end;
    },
    async end(statement) {
      const end = endTurn;
      if (end === null) return;
      endTurn = null;
      try {
        if (client.generation === begunIn) await client.run(statement, []);
        else if (statement === "commit") assertNotLost();
      } finally {
        end();
      }
    },
    async release() {
      await this.end("rollback");
    },
  };
}

/**
 * The store inside this process: PGlite in a thread of its own, in `<dataDir>/store` or in memory when `dataDir` is null.
 *
 * The data directory is locked first, so a second process ends with `DataDirLockedError` and touches nothing. A kill of
 * the process loses nothing acknowledged; a power cut may, because the engine does not flush the disk's cache.
 */
export async function openEmbeddedDatabase(options: {
  readonly dataDir: string | null;
  readonly log: Log;
  /** Free space on the disk below which writes are refused, while reads go on; 64 MiB by default, 0 never refuses. */
  readonly reserveBytes?: number;
  /** For tests: free bytes on the disk of the data directory, null when unknown. */
  readonly freeBytes?: () => Promise<number | null>;
  /** For tests: how the store's thread is started. */
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
  const room = createDiskSpaceGuard({
    reserveBytes: dataDir === null ? 0 : (options.reserveBytes ?? RESERVE_BYTES),
    freeBytes: options.freeBytes ?? (() => readFreeBytes(dataDir ?? "")),
    monotonic: () => performance.now(),
    log,
  });
  const turns = createStatementQueue({ waitingMax: EMBEDDED_WAITING_MAX, waitMsMax: EMBEDDED_WAIT_MS_MAX });
  const direct = openSession(client, turns, room);
  return {
    async query<Row extends Record<string, unknown>>(text: string, parameters: readonly unknown[] = []) {
      return (await direct.run(text, parameters)) as Row[];
    },
    transaction: (work) => runTransaction(async () => openSession(client, turns, room), work),
    async close() {
      await client.close();
      await lock?.release();
    },
  };
}
