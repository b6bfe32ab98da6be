import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import type { Log } from "../../ports/log.ts";
import { type EngineDamage, storeUnavailable } from "./errors.ts";
import type { PgliteReply, PgliteRequest } from "./pglite-protocol.ts";
import { createStatementClient } from "./statement-client.ts";

/** Timeout of the start. Opening the store takes seconds; after a crash it replays up to 64 MiB of write-ahead log. */
const START_MS_MAX = 120_000;
const CLOSE_MS_MAX = 5_000;

/** One worker thread with the engine of the embedded store. A thread that has ended is not restarted. */
export type PgliteEngine = ReturnType<typeof connectEngine>;

/** Connects to a worker thread that has just been started. */
export function connectEngine(worker: Worker, log: Log) {
  const ready = Promise.withResolvers<void>();
  const exited = Promise.withResolvers<void>();
  /** Functions to call when the connection of another thread has ended. */
  const disconnections = new Map<number, () => void>();
  let nextConnectionId = 0;
  let hasDamagedFiles = false;
  let isExpectedEnd = false;
  let reason: unknown = null;
  const send = (request: PgliteRequest, ...transfer: MessagePort[]) => worker.postMessage(request, transfer);

  const terminate = () => {
    statements.end();
    void worker.terminate();
    return exited.promise;
  };
  const terminateBecause = (cause: Error) => {
    reason ??= cause;
    void terminate();
  };
  const terminateAfter = (timeoutMs: number, task: string) =>
    setTimeout(() => terminateBecause(new Error(`${task} took longer than ${timeoutMs} ms.`)), timeoutMs);
  const recordDamage = (damage: EngineDamage | null, error: Error) => {
    if (damage === "memory") {
      reason = error;
      void terminate();
    } else if (damage === "files" && !hasDamagedFiles) {
      hasDamagedFiles = true;
      log.error({ err: error }, "the embedded store cannot create files: it refuses writes until it is restarted");
    }
  };
  const statements = createStatementClient(worker, {
    onFailure: ({ damage }, error) => recordDamage(damage, error),
    onCheckpointFailure: (err) => log.warn({ err }, "a checkpoint of the embedded store failed and will be retried"),
    onStuck: terminateBecause,
  });

  worker.on("message", (reply: PgliteReply) => {
    if (reply.kind === "ready") ready.resolve();
    else if (reply.kind === "disconnected") disconnections.get(reply.connectionId)?.();
    else statements.receive(reply);
  });
  worker.on("error", (error) => {
    reason = error;
  });
  worker.on("exit", (code) => {
    ready.reject(storeUnavailable("The store stopped during this statement.", reason));
    statements.failPending(reason);
    exited.resolve();
    for (const resolve of disconnections.values()) resolve();
    if (!isExpectedEnd) log.error({ err: reason, exit_code: code }, "the embedded store stopped");
  });

  const startTimeout = terminateAfter(START_MS_MAX, "Opening the store");
  // If no statement waits for `ready`, its unhandled rejection would end the process.
  ready.promise.catch(() => {}).finally(() => clearTimeout(startTimeout));

  return {
    /** Resolves when the store is open. Rejects with `store_unavailable` if the thread ends before. */
    ready: ready.promise,
    /** True as soon as the engine accepts no more statements. Its thread may still have the store's files open. */
    get hasEnded(): boolean {
      return statements.hasEnded;
    },
    /** True if the engine can no longer create some files. Reads still succeed. */
    get hasDamagedFiles(): boolean {
      return hasDamagedFiles;
    },
    /** Runs a statement. Statements that have no reply when the engine ends fail with `store_unavailable`. */
    run: statements.run,
    /**
     * Returns a port over which another thread can send statements. It closes when the engine ends. `disconnected`
     * resolves when the other thread has ended and its statements and its transaction have ended.
     */
    connect(): { readonly port: MessagePort; readonly disconnected: Promise<void> } {
      const { port1, port2 } = new MessageChannel();
      const connectionId = nextConnectionId++;
      const disconnected = Promise.withResolvers<void>();
      disconnections.set(connectionId, () => {
        disconnections.delete(connectionId);
        disconnected.resolve();
      });
      send({ kind: "connect", connectionId, port: port1 }, port1);
      return { port: port2, disconnected: disconnected.promise };
    },
    /** Records damage that another thread has found. */
    recordDamage,
    /** Ends the engine because a statement of another thread takes too long. */
    terminateBecause,
    /** Ends the thread without a checkpoint, as a kill would. Resolves when its files are closed. */
    terminate(): Promise<void> {
      isExpectedEnd = true;
      return terminate();
    },
    /** Makes a checkpoint and ends the thread. Terminates it if this takes too long. */
    async close(): Promise<void> {
      isExpectedEnd = true;
      if (!statements.hasEnded) send({ kind: "close" });
      const timeout = terminateAfter(CLOSE_MS_MAX, "Closing the store");
      await exited.promise;
      clearTimeout(timeout);
    },
  };
}
