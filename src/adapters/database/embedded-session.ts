import { type DiskSpaceGuard, needsDiskSpace } from "./disk-space-guard.ts";
import { storeUnavailable } from "./errors.ts";
import type { PgliteEngine } from "./pglite-engine.ts";
import type { SqlSession } from "./session.ts";

/** The exclusive right to send statements to the engine. */
export interface EngineSlot {
  readonly engine: Pick<PgliteEngine, "run" | "hasEnded" | "hasDamagedFiles">;
  /** Must be called once. */
  readonly release: () => void;
}

/**
 * Opens a session of the embedded store, which acquires the slot for each statement, or once for a whole transaction.
 *
 * @param acquire  throws AppError `store_unavailable`
 */
export function openEmbeddedSession(acquire: () => Promise<EngineSlot>, assertDiskSpace: DiskSpaceGuard): SqlSession {
  let transaction: EngineSlot | null = null;
  const runStatement = async (engine: EngineSlot["engine"], text: string, parameters: readonly unknown[]) => {
    if (engine.hasDamagedFiles && needsDiskSpace(text))
      throw storeUnavailable("The store cannot create files: it refuses writes until it is restarted.");
    return engine.run(text, parameters);
  };
  return {
    async run(text, parameters) {
      await assertDiskSpace(text);
      if (transaction !== null) return runStatement(transaction.engine, text, parameters);
      const slot = await acquire();
      try {
        return await runStatement(slot.engine, text, parameters);
      } finally {
        slot.release();
      }
    },
    async begin() {
      const slot = await acquire();
      try {
        await slot.engine.run("start transaction", []);
        transaction = slot;
      } catch (error) {
        slot.release();
        throw error;
      }
    },
    async end(statement) {
      if (transaction === null) return;
      const { engine, release } = transaction;
      transaction = null;
      try {
        // An engine that ends rolls its transaction back, so the commit must then fail.
        if (statement === "commit" || !engine.hasEnded) await engine.run(statement, []);
      } finally {
        release();
      }
    },
    async release() {
      await this.end("rollback");
    },
  };
}
