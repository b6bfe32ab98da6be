import type { Worker } from "node:worker_threads";
import type { Log } from "../../ports/log.ts";
import { encodeArrayParameters } from "./array-parameters.ts";
import { storeUnavailable, toStoreError } from "./errors.ts";
import type { PgliteFailure, PgliteReply, PgliteRequest } from "./pglite-protocol.ts";

/** Timeout of the start. Opening the store takes seconds; after a crash it replays up to 64 MiB of write-ahead log. */
const START_MS_MAX = 120_000;
/** Timeout of a statement. A longer one means that the engine is stuck, so its thread is terminated. */
const STATEMENT_MS_MAX = 120_000;
const CLOSE_MS_MAX = 5_000;

type Rows = Record<string, unknown>[];

const STATEMENT_CHARACTERS_SHOWN = 200;
/** Returns the start of a statement on one line, without its parameters. */
const startOf = (text: string): string => text.trim().replace(/\s+/g, " ").slice(0, STATEMENT_CHARACTERS_SHOWN);

/** One worker thread with the engine of the embedded store. A thread that has ended is not restarted. */
export type PgliteEngine = ReturnType<typeof connectEngine>;

function toError(failure: PgliteFailure): Error {
  const { message, code, detail, constraint } = failure;
  return Object.assign(new Error(message), { code, detail, constraint });
}

/** Connects to a worker thread that has just been started. */
export function connectEngine(worker: Worker, log: Log) {
  const pendingStatements = new Map<number, PromiseWithResolvers<Rows>>();
  const ready = Promise.withResolvers<void>();
  const exited = Promise.withResolvers<void>();
  let nextId = 0;
  let hasEnded = false;
  let hasDamagedFiles = false;
  let isExpectedEnd = false;
  let reason: unknown = null;
  const send = (request: PgliteRequest) => worker.postMessage(request);

  const terminate = () => {
    hasEnded = true;
    void worker.terminate();
    return exited.promise;
  };
  const terminateAfter = (timeoutMs: number, describeTask: () => string) =>
    setTimeout(() => {
      reason ??= new Error(`${describeTask()} took longer than ${timeoutMs} ms.`);
      void terminate();
    }, timeoutMs);
  const recordDamage = ({ damage }: PgliteFailure, error: Error) => {
    if (damage === "memory") {
      reason = error;
      void terminate();
    } else if (damage === "files" && !hasDamagedFiles) {
      hasDamagedFiles = true;
      log.error({ err: error }, "the embedded store cannot create files: it refuses writes until it is restarted");
    }
  };
  const toStatementError = ({ damage }: PgliteFailure, error: Error) =>
    damage === null ? toStoreError(error) : storeUnavailable("The store failed during this statement.", error);

  worker.on("message", (message: PgliteReply) => {
    if (message.kind === "ready") return ready.resolve();
    if (message.kind === "rows") {
      pendingStatements.get(message.id)?.resolve(message.rows);
      return;
    }
    const { failure } = message;
    const error = toError(failure);
    if (message.kind === "failed") pendingStatements.get(message.id)?.reject(toStatementError(failure, error));
    else log.warn({ err: error }, "a checkpoint of the embedded store failed and will be retried");
    recordDamage(failure, error);
  });
  worker.on("error", (error) => {
    reason = error;
  });
  worker.on("exit", (code) => {
    hasEnded = true;
    const error = storeUnavailable("The store stopped during this statement.", reason);
    ready.reject(error);
    for (const { reject } of pendingStatements.values()) reject(error);
    exited.resolve();
    if (!isExpectedEnd) log.error({ err: reason, exit_code: code }, "the embedded store stopped");
  });

  const startTimeout = terminateAfter(START_MS_MAX, () => "Opening the store");
  // If no statement waits for `ready`, its unhandled rejection would end the process.
  ready.promise.catch(() => {}).finally(() => clearTimeout(startTimeout));

  return {
    /** Resolves when the store is open. Rejects with `store_unavailable` if the thread ends before. */
    ready: ready.promise,
    /** True as soon as the engine accepts no more statements. Its thread may still have the store's files open. */
    get hasEnded(): boolean {
      return hasEnded;
    },
    /** True if the engine can no longer create some files. Reads still succeed. */
    get hasDamagedFiles(): boolean {
      return hasDamagedFiles;
    },
    /** Runs a statement. Statements that have no reply when the engine ends fail with `store_unavailable`. */
    async run(text: string, parameters: readonly unknown[]): Promise<Rows> {
      if (hasEnded) throw storeUnavailable("The store stopped before this statement.");
      const id = nextId++;
      const statement = Promise.withResolvers<Rows>();
      pendingStatements.set(id, statement);
      const timeout = terminateAfter(STATEMENT_MS_MAX, () => `The statement "${startOf(text)}"`);
      try {
        send({ kind: "query", id, text, parameters: encodeArrayParameters(parameters) });
        return await statement.promise;
      } finally {
        clearTimeout(timeout);
        pendingStatements.delete(id);
      }
    },
    /** Ends the thread without a checkpoint, as a kill would. Resolves when its files are closed. */
    terminate(): Promise<void> {
      isExpectedEnd = true;
      return terminate();
    },
    /** Makes a checkpoint and ends the thread. Terminates it if this takes too long. */
    async close(): Promise<void> {
      isExpectedEnd = true;
      if (!hasEnded) send({ kind: "close" });
      const timeout = terminateAfter(CLOSE_MS_MAX, () => "Closing the store");
      await exited.promise;
      clearTimeout(timeout);
    },
  };
}
