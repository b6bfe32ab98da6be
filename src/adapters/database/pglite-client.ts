import { Worker } from "node:worker_threads";
import type { Log } from "../../ports/log.ts";
import { encodeArrayParameters } from "./array-parameters.ts";
import { storeUnavailable, toStoreError } from "./errors.ts";
import type { PgliteFailure, PgliteReply, PgliteRequest, PgliteWorkerData } from "./pglite-protocol.ts";

/** Shortest time between two restarts of a failed engine. */
const RESTART_PAUSE_MS = 1_000;
const CLOSE_MS_MAX = 5_000;
/** A statement that takes longer means that the engine is stuck, so its thread is terminated. */
const STATEMENT_MS_MAX = 120_000;

/** The main thread's interface to the store's worker thread. */
export interface PgliteClient {
  /** Increases when the engine stops; statements and transactions of earlier generations are lost. */
  readonly generation: number;
  run(text: string, parameters: readonly unknown[]): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

interface PendingStatement {
  resolve(rows: Record<string, unknown>[]): void;
  reject(error: unknown): void;
}

interface Engine {
  readonly worker: Worker;
  readonly ready: Promise<void>;
  readonly exited: Promise<void>;
}

function toError(failure: PgliteFailure): Error {
  return Object.assign(new Error(failure.message), {
    code: failure.code,
    detail: failure.detail,
    constraint: failure.constraint,
  });
}

/** Starts the store's worker thread. Tests pass a `spawn` function to terminate the worker. */
export async function startPgliteClient(options: {
  readonly folder: string | null;
  readonly log: Log;
  readonly spawn?: (data: PgliteWorkerData) => Worker;
}): Promise<PgliteClient> {
  const { folder, log } = options;
  const spawn =
    options.spawn ?? ((data) => new Worker(new URL("./pglite-worker.ts", import.meta.url), { workerData: data }));
  const pendingStatements = new Map<number, PendingStatement>();
  let nextId = 0;
  let generation = 0;
  let isClosed = false;
  let engine: Engine | null = null;
  let restartedAt = Number.NEGATIVE_INFINITY;

  const startEngine = (): Engine => {
    const worker = spawn({ folder });
    const ready = Promise.withResolvers<void>();
    const exited = Promise.withResolvers<void>();
    let reason: unknown = null;
    worker.on("message", (message: PgliteReply) => {
      if (message.kind === "ready") return ready.resolve();
      const request = pendingStatements.get(message.id);
      pendingStatements.delete(message.id);
      if (message.kind === "rows") request?.resolve(message.rows);
      else if (message.failure.isFatal) {
        request?.reject(storeUnavailable("The store failed during this statement.", toError(message.failure)));
      } else request?.reject(toStoreError(toError(message.failure)));
    });
    worker.on("error", (error) => {
      reason = error;
    });
    worker.on("exit", (code) => {
      if (engine?.worker === worker) {
        engine = null;
        generation += 1;
      }
      const error = storeUnavailable("The store stopped during this statement.", reason);
      ready.reject(error);
      for (const request of pendingStatements.values()) request.reject(error);
      pendingStatements.clear();
      exited.resolve();
      if (!isClosed) log.error({ err: reason, exit_code: code }, "the embedded store stopped");
    });
    // If no statement waits for `ready`, its unhandled rejection would end the process.
    ready.promise.catch(() => {});
    return { worker, ready: ready.promise, exited: exited.promise };
  };

  const requireEngine = (): Engine => {
    if (isClosed) throw storeUnavailable("The store is closed.");
    if (engine !== null) return engine;
    if (folder === null) throw storeUnavailable("The in-memory store failed and cannot be restarted.");
    if (performance.now() - restartedAt < RESTART_PAUSE_MS) throw storeUnavailable("The store is restarting.");
    restartedAt = performance.now();
    engine = startEngine();
    return engine;
  };

  const client: PgliteClient = {
    get generation() {
      return generation;
    },
    async run(text, parameters) {
      const { worker, ready } = requireEngine();
      await ready;
      const id = nextId++;
      const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>[]>();
      pendingStatements.set(id, { resolve, reject });
      const encoded = encodeArrayParameters(parameters);
      worker.postMessage({ kind: "query", id, text, parameters: encoded } satisfies PgliteRequest);
      const statementTimeout = setTimeout(() => void worker.terminate(), STATEMENT_MS_MAX);
      try {
        return await promise;
      } finally {
        clearTimeout(statementTimeout);
      }
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      const closingEngine = engine;
      if (closingEngine === null) return;
      closingEngine.worker.postMessage({ kind: "close" } satisfies PgliteRequest);
      const timeout = setTimeout(() => void closingEngine.worker.terminate(), CLOSE_MS_MAX);
      await closingEngine.exited;
      clearTimeout(timeout);
    },
  };
  engine = startEngine();
  await engine.ready;
  return client;
}
