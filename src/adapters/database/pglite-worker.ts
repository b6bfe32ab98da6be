import { parentPort, workerData } from "node:worker_threads";
import { PGlite, types } from "@electric-sql/pglite";
import { lowerThreadPriority } from "../system/process-priority.ts";
import type { PgliteFailure, PgliteReply, PgliteRequest, PgliteWorkerData } from "./pglite-protocol.ts";

/** The store's own thread: the engine computes on the thread it lives in, and the API's must never stall. */
const SQLSTATE = /^[0-9A-Z]{5}$/;

/**
 * An engine without a server around it makes no checkpoint by itself before it is closed: its log would grow for ever, and
 * a start after a kill replays all of it. So it is told to, after this many bytes of log.
 */
const LOG_BYTES_MAX = 128 * 2 ** 20;
/** How often the length of the log is looked at, while there are statements. */
const LOG_LOOK_EVERY_MS = 5_000;
const LOG_BYTES = "select (pg_current_wal_insert_lsn() - redo_lsn)::float8 as bytes from pg_control_checkpoint()";

/** `workerData` is untyped by nature; `pglite-client.ts` is the only one who starts this file. */
const { folder, logBytesMax = LOG_BYTES_MAX, logLookEveryMs = LOG_LOOK_EVERY_MS } = workerData as PgliteWorkerData;
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
    // No SQLSTATE is a failure of the machine below; a panic (a full disk, for one) is the engine giving up. Asked again,
    // it would compute for ever on torn memory; started again, it replays its log.
    isEnd: code === null || !SQLSTATE.test(code) || fields.severity === "PANIC" || fields.severity === "FATAL",
  };
}

/** Most of what the store does, nobody waits for. */
const NICENESS = 10;
lowerThreadPriority(NICENESS);

const engine = await PGlite.create({
  ...(folder === null ? {} : { dataDir: folder }),
  parsers: { [types.INT8]: Number },
});
await engine.exec("set timezone to 'UTC'");

let isBroken = false;
let isInTransaction = false;
let logLookedAt = performance.now();

/** Between transactions only: a checkpoint that fails must take nobody's work with it. */
async function boundLog(): Promise<void> {
  if (isInTransaction || performance.now() - logLookedAt < logLookEveryMs) return;
  logLookedAt = performance.now();
  const { rows } = await engine.query<{ bytes: number }>(LOG_BYTES);
  if ((rows[0]?.bytes ?? 0) > logBytesMax) await engine.exec("checkpoint");
}

async function answer(request: PgliteRequest): Promise<void> {
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
    if (failure.isEnd) endBroken();
    return;
  }
  // A log that cannot be shortened now, on a full disk for one, is looked at again later.
  await boundLog().catch((error: unknown) => {
    if (describeFailure(error).isEnd) endBroken();
  });
}

function endBroken(): void {
  isBroken = true;
  setImmediate(() => process.exit(1));
}

let last: Promise<void> = Promise.resolve();
port.on("message", (request: PgliteRequest) => {
  last = last.then(() => answer(request));
});
reply({ kind: "ready" });
