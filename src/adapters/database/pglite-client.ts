import type { Worker } from "node:worker_threads";
import type { Log } from "../../ports/log.ts";
import { startSmallHeapWorker } from "../system/small-heap-worker.ts";
import { canOpenFiles } from "./descriptor-check.ts";
import { storeUnavailable } from "./errors.ts";
import { connectEngine, type PgliteEngine } from "./pglite-engine.ts";
import type { PgliteWorkerData } from "./pglite-protocol.ts";

/** Minimum time between two starts of the engine. It doubles with each failure, up to the maximum. */
const RESTART_PAUSE_MS_MIN = 1_000;
const RESTART_PAUSE_MS_MAX = 30_000;
/** Minimum running time after which an engine that fails is restarted immediately. */
const STABLE_MS_MIN = 60_000;
/**
 * Minimum number of files that the process must be able to open before an engine that can still read is restarted;
 * otherwise the restart could fail. A start needs 49 descriptors, of which the replaced engine frees at least 43.
 */
const SPARE_DESCRIPTORS_MIN = 8;
/** Maximum time without writes. Afterwards the engine is restarted even if the process cannot open files. */
const DAMAGED_MS_MAX = 60_000;

export type PgliteClient = Awaited<ReturnType<typeof startPgliteClient>>;

/** Access to the operating system, replaced in tests. */
export interface PgliteEnvironment {
  /** Starts the store's worker thread. */
  readonly spawn: (data: PgliteWorkerData) => Worker;
  /** Returns whether the process can open this many more files. */
  readonly canOpenFiles: (count: number) => boolean;
  readonly monotonic: () => number;
}

const realEnvironment: PgliteEnvironment = {
  spawn: (workerData) => startSmallHeapWorker(new URL("./pglite-worker.ts", import.meta.url), { workerData }),
  canOpenFiles,
  monotonic: () => performance.now(),
};

/**
 * Starts the engine of the store in `folder`, or in memory if `folder` is null, and keeps an engine running in a worker
 * thread.
 */
export async function startPgliteClient(options: {
  readonly folder: string | null;
  readonly isReadOnly?: boolean;
  readonly log: Log;
  readonly environment?: Partial<PgliteEnvironment>;
}) {
  const { folder, isReadOnly, log } = options;
  const { spawn, monotonic, ...environment } = { ...realEnvironment, ...options.environment };
  const hasSpareDescriptors = () => environment.canOpenFiles(SPARE_DESCRIPTORS_MIN);
  const startEngine = () => connectEngine(spawn({ folder, isReadOnly }), log);
  let engine = startEngine();
  let startedAt = monotonic();
  let restartPauseMs = 0;
  /** Time at which the engine was first found unable to create files. */
  let damagedAt: number | null = null;
  let isClosed = false;

  const restart = async () => {
    const engineMs = monotonic() - startedAt;
    restartPauseMs =
      engineMs >= STABLE_MS_MIN
        ? RESTART_PAUSE_MS_MIN
        : Math.min(RESTART_PAUSE_MS_MAX, Math.max(RESTART_PAUSE_MS_MIN, 2 * restartPauseMs));
    // Two engines on one folder would destroy the store.
    await engine.terminate();
    if (isClosed) throw storeUnavailable("The store is closed.");
    log.warn({ engine_ms: Math.round(engineMs) }, "restarting the embedded store");
    startedAt = monotonic();
    damagedAt = null;
    engine = startEngine();
  };
  const mustReplaceDamaged = () => {
    damagedAt ??= monotonic();
    return monotonic() - damagedAt >= DAMAGED_MS_MAX || hasSpareDescriptors();
  };

  await engine.ready;
  return {
    /**
     * Returns an open engine. Replaces an engine that has ended or can no longer create files. The caller must ensure
     * that no statement or transaction is running. Throws `store_unavailable` during the pause between two restarts.
     */
    async requireEngine(): Promise<PgliteEngine> {
      if (isClosed) throw storeUnavailable("The store is closed.");
      const canRestart = folder !== null && monotonic() - startedAt >= restartPauseMs;
      if (engine.hasEnded) {
        if (folder === null) throw storeUnavailable("The in-memory store failed and cannot be restarted.");
        if (!canRestart) throw storeUnavailable("The store is restarting.");
        await restart();
      } else if (engine.hasDamagedFiles && canRestart && mustReplaceDamaged()) await restart();
      await engine.ready;
      return engine;
    },
    async close(): Promise<void> {
      if (isClosed) return;
      isClosed = true;
      await engine.close();
    },
  };
}
