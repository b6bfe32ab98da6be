import { parentPort, workerData } from "node:worker_threads";
import { PGlite, types } from "@electric-sql/pglite";
import { lowerThreadPriority } from "../system/process-priority.ts";
import { findEngineDamage } from "./errors.ts";
import { LowMemoryPglite } from "./low-memory-pglite.ts";
import type { PgliteFailure, PgliteReply, PgliteRequest, PgliteWorkerData } from "./pglite-protocol.ts";
import { createStatementRunner } from "./prepared-statements.ts";
import { createStoreFiles } from "./store-template/new-store.ts";

// Worker thread of the embedded store. On the main thread, the engine would block the event loop of the API.

/**
 * PGlite makes no checkpoint until it is closed, so its write-ahead log would grow without limit and be replayed after
 * a kill. This thread makes a checkpoint when the log exceeds this size.
 */
const LOG_BYTES_MAX = 64 * 2 ** 20;
/** Minimum time between two checks of the log's size. The check runs after a statement. */
const LOG_CHECK_EVERY_MS = 5_000;
const SELECT_LOG_BYTES =
  "select (pg_current_wal_insert_lsn() - redo_lsn)::float8 as bytes from pg_control_checkpoint()";

/** `workerData` is untyped; only `pglite-client.ts` starts this file. */
const {
  folder,
  isReadOnly = false,
  logBytesMax = LOG_BYTES_MAX,
  logCheckEveryMs = LOG_CHECK_EVERY_MS,
} = workerData as PgliteWorkerData;
const port = parentPort;
if (port === null) throw new Error("This file runs as a worker thread only.");
const sendReply = (message: PgliteReply) => port.postMessage(message);

/** Settings of the engine, which is part of the service's process. */
const ENGINE_SETTINGS = {
  // With the default of 1000, the engine could use up the process's descriptors and would then fail to create files.
  // The engine needs 43 after its start. The minimum value is 64.
  max_files_per_process: 128,
  // The default of 128 MB would waste memory, because the operating system also caches the store's files.
  shared_buffers: "16MB",
  wal_buffers: "1MB",
  maintenance_work_mem: "16MB",
  // Size of the log files that a checkpoint keeps for reuse.
  min_wal_size: "32MB",
  default_transaction_read_only: isReadOnly ? "on" : "off",
};
lowerThreadPriority();

if (folder !== null) createStoreFiles(folder);
const engine = new LowMemoryPglite({
  ...(folder === null ? {} : { dataDir: folder }),
  startParams: [
    ...PGlite.defaultStartParams,
    ...Object.entries(ENGINE_SETTINGS).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ],
  parsers: { [types.INT8]: Number },
});
await engine.waitReady;
await engine.exec("set timezone to 'UTC'");
const runStatement = createStatementRunner(engine);

/** True after a failure that may have corrupted the engine's memory. The main thread then terminates this thread. */
let isBroken = false;
let isInTransaction = false;
let logCheckedAt = performance.now();

function recordFailure(error: unknown): PgliteFailure {
  const fields = (error ?? {}) as Partial<Record<"message" | "code" | "detail" | "constraint", unknown>>;
  const text = (value: unknown) => (typeof value === "string" ? value : null);
  const damage = findEngineDamage(error);
  isBroken ||= damage === "memory";
  return {
    message: text(fields.message) ?? String(error),
    code: text(fields.code),
    detail: text(fields.detail),
    constraint: text(fields.constraint),
    damage,
  };
}

/** Makes a checkpoint if the log is long, but not in a transaction, because a failed checkpoint would abort it. */
async function limitLog(): Promise<void> {
  if (isInTransaction || performance.now() - logCheckedAt < logCheckEveryMs) return;
  logCheckedAt = performance.now();
  const { rows } = await engine.query<{ bytes: number }>(SELECT_LOG_BYTES);
  if ((rows[0]?.bytes ?? 0) > logBytesMax) await engine.exec("checkpoint");
}

async function handleRequest(request: PgliteRequest): Promise<void> {
  if (isBroken) return;
  if (request.kind === "close") {
    await engine.close();
    process.exit(0);
  }
  try {
    const rows = await runStatement(request.text, request.parameters);
    if (/^(begin|start transaction)\b/i.test(request.text)) isInTransaction = true;
    else if (/^(commit|rollback)\s*$/i.test(request.text)) isInTransaction = false;
    sendReply({ kind: "rows", id: request.id, rows });
  } catch (error) {
    sendReply({ kind: "failed", id: request.id, failure: recordFailure(error) });
    return;
  }
  try {
    await limitLog();
  } catch (error) {
    // The next check retries the checkpoint.
    sendReply({ kind: "checkpoint_failed", failure: recordFailure(error) });
  }
}

let lastRequest: Promise<void> = Promise.resolve();
port.on("message", (request: PgliteRequest) => {
  lastRequest = lastRequest.then(() => handleRequest(request));
});
sendReply({ kind: "ready" });
