import { parentPort, workerData } from "node:worker_threads";
import type { StateThreadModule } from "../../ports/state-thread.ts";
import { lowerThreadPriority } from "./process-priority.ts";

// State thread. It calls the function that `createHandler` of the module in `workerData` returns, one request at a
// time.

const THREAD_NICENESS = 10;
lowerThreadPriority(THREAD_NICENESS);

const port = parentPort;
if (port === null) throw new Error("This file runs as a worker thread only.");
/** `workerData` is untyped; only `state-thread.ts` starts this file. */
const { createHandler } = (await import(String(workerData))) as StateThreadModule<unknown, unknown>;
const handle = createHandler();

port.on("message", (request: unknown) => port.postMessage(handle(request)));
