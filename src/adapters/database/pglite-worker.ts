import { parentPort, workerData } from "node:worker_threads";
import { PGlite, types } from "@electric-sql/pglite";
import { lowerThreadPriority } from "../system/process-priority.ts";
import type { PgliteFailure, PgliteReply, PgliteRequest, PgliteWorkerData } from "./pglite-protocol.ts";

/** The worker thread of the embedded store, because the engine would block the event loop of the API. */
const SQLSTATE = /^[0-9A-Z]{5}$/;

/**
 * PGlite makes no checkpoint until it is closed, so its write-ahead log would grow without limit and be replayed after a
 * kill. This thread makes a checkpoint after this many bytes of log.
 */
const LOG_BYTES_MAX = 128 * 2 ** 20;
/** How often the size of the log is checked, after a statement. */
const LOG_CHECK_EVERY_MS = 5_000;
const LOG_BYTES = "select (pg_current_wal_insert_lsn() - redo_lsn)::float8 as bytes from pg_control_checkpoint()";

/** `workerData` is untyped; only `pglite-client.ts` starts this file. */
const { folder, logBytesMax = LOG_BYTES_MAX, logCheckEveryMs = LOG_CHECK_EVERY_MS } = workerData as PgliteWorkerData;
const port = parentPort;
if (port === null) throw new Error("This file runs as a worker thread only.");
const reply = (message: PgliteReply) => port.postMessage(message);

function describeFailure(error: unknown): PgliteFailure {
  const fields = error as Partial<Record<"message" | "code" | "detail" | "constraint" | "severity", unknown>>;
  const text = (value: unknown) => (typeof value === "string" ? value : null);
  const code = text(fields?.code);
  return {
    message: text(fields?.message) ?? String(error),
    code,
    detail: text(fields?.detail),
    constraint: text(fields?.constraint),
    // Without a SQLSTATE the WebAssembly machine failed; a panic, such as on a full disk, ends the engine. Its memory is
    // corrupt then, and another statement may never return. A restart replays the log.
    isFatal: code === null || !SQLSTATE.test(code) || fields.severity === "PANIC" || fields.severity === "FATAL",
  };
}

/** Most statements are background work. */
const NICENESS = 10;
lowerThreadPriority(NICENESS);

const engine = await PGlite.create({
  ...(folder === null ? {} : { dataDir: folder }),
  parsers: { [types.INT8]: Number },
});
await engine.exec("set timezone to 'UTC'");

let isBroken = false;
let isInTransaction = false;
let logCheckedAt = performance.now();

/** Makes a checkpoint if the log is long. Only between transactions, because a failing checkpoint would end one. */
async function limitLog(): Promise<void> {
  if (isInTransaction || performance.now() - logCheckedAt < logCheckEveryMs) return;
  logCheckedAt = performance.now();
  const { rows } = await engine.query<{ bytes: number }>(LOG_BYTES);
  if ((rows[0]?.bytes ?? 0) > logBytesMax) await engine.exec("checkpoint");
}

async function handle(request: PgliteRequest): Promise<void> {
  if (isBroken) return;
  if (request.kind === "close") {
    await engine.close();
    process.exit(0);
  }
  try {
    const { rows } = await engine.query<Record<string, unknown>>(request.text, [...request.parameters]);
    if (/^(begin|start transaction)\b/i.test(request.text)) isInTransaction = true;
    else if (/^(commit|rollback)\s*$/i.test(request.text)) isInTransaction = false;
    reply({ kind: "rows", id: request.id, rows });
  } catch (error) {
    const failure = describeFailure(error);
    reply({ kind: "failed", id: request.id, failure });
    if (failure.isFatal) exitAfterFailure();
    return;
  }
  // If the checkpoint fails, for example on a full disk, it is tried again later.
  await limitLog().catch((error: unknown) => {
    if (describeFailure(error).isFatal) exitAfterFailure();
  });
}

function exitAfterFailure(): void {
  isBroken = true;
  setImmediate(() => process.exit(1));
}

let last: Promise<void> = Promise.resolve();
port.on("message", (request: PgliteRequest) => {
  last = last.then(() => handle(request));
});
reply({ kind: "ready" });
