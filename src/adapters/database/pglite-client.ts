import { Worker } from "node:worker_threads";
import type { Log } from "../../ports/log.ts";
import { encodeArrayParameters } from "./array-parameters.ts";
import { storeUnavailable, toStoreError } from "./errors.ts";
import type { PgliteFailure, PgliteReply, PgliteRequest, PgliteWorkerData } from "./pglite-protocol.ts";

/** A broken engine is started again at most this often. */
const RESTART_PAUSE_MS = 1_000;
const CLOSE_MS_MAX = 5_000;
/** No statement of ours takes this long: the engine hangs, and only ending its thread frees the store. */
const STATEMENT_MS_MAX = 120_000;

/** The main thread's end of the store's thread. */
export interface PgliteClient {
  /** Grows each time the engine had to be started again: whatever was in flight or in a transaction is gone. */
  readonly generation: number;
  run(text: string, parameters: readonly unknown[]): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

interface Pending {
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

/** Starts the store's thread. The caller is `openEmbeddedDatabase`; tests pass their own `spawn` to break it. */
export async function startPgliteClient(options: {
  readonly folder: string | null;
  readonly log: Log;
  readonly spawn?: (data: PgliteWorkerData) => Worker;
}): Promise<PgliteClient> {
  const { folder, log } = options;
  const spawn =
    options.spawn ?? ((data) => new Worker(new URL("./pglite-worker.ts", import.meta.url), { workerData: data }));
  const pending = new Map<number, Pending>();
  let nextId = 0;
  let generation = 0;
  let isClosed = false;
  let engine: Engine | null = null;
  let restartedAt = Number.NEGATIVE_INFINITY;

  const start = (): Engine => {
    const worker = spawn({ folder });
    const ready = Promise.withResolvers<void>();
    const exited = Promise.withResolvers<void>();
    let reason: unknown = null;
    worker.on("message", (message: PgliteReply) => {
      if (message.kind === "ready") return ready.resolve();
      const waiting = pending.get(message.id);
      pending.delete(message.id);
      if (message.kind === "rows") waiting?.resolve(message.rows);
      else if (message.failure.isEnd) {
        waiting?.reject(storeUnavailable("The store broke while working on this.", toError(message.failure)));
      } else waiting?.reject(toStoreError(toError(message.failure)));
    });
    worker.on("error", (error) => {
      reason = error;
    });
    worker.on("exit", (code) => {
      if (engine?.worker === worker) {
        engine = null;
        generation += 1;
      }
      const error = storeUnavailable("The store stopped while working on this.", reason);
      ready.reject(error);
      for (const waiting of pending.values()) waiting.reject(error);
      pending.clear();
      exited.resolve();
      if (!isClosed) log.error({ err: reason, exit_code: code }, "the embedded store stopped");
    });
    // Whoever waits for it sees the rejection; nobody waiting must not end the process.
    ready.promise.catch(() => {});
    return { worker, ready: ready.promise, exited: exited.promise };
  };

  const running = (): Engine => {
    if (isClosed) throw storeUnavailable("The store is closed.");
    if (engine !== null) return engine;
    if (folder === null) throw storeUnavailable("The store in memory broke; nothing is left to start again from.");
    if (performance.now() - restartedAt < RESTART_PAUSE_MS) throw storeUnavailable("The store is being started again.");
    restartedAt = performance.now();
    engine = start();
    return engine;
  };

  const client: PgliteClient = {
    get generation() {
      return generation;
    },
    async run(text, parameters) {
      const { worker, ready } = running();
      await ready;
      const id = nextId++;
      const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>[]>();
      pending.set(id, { resolve, reject });
      const encoded = encodeArrayParameters(parameters);
      worker.postMessage({ kind: "query", id, text, parameters: encoded } satisfies PgliteRequest);
      const watchdog = setTimeout(() => void worker.terminate(), STATEMENT_MS_MAX);
      try {
        return await promise;
      } finally {
        clearTimeout(watchdog);
      }
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      const last = engine;
      if (last === null) return;
      last.worker.postMessage({ kind: "close" } satisfies PgliteRequest);
      const giveUp = setTimeout(() => void last.worker.terminate(), CLOSE_MS_MAX);
      await last.exited;
      clearTimeout(giveUp);
    },
  };
  engine = start();
  await engine.ready;
  return client;
}
