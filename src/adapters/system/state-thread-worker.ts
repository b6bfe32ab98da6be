import { parentPort, workerData } from "node:worker_threads";
import type { StateThreadModule } from "../../ports/state-thread.ts";
import { lowerThreadPriority } from "./process-priority.ts";

// Worker thread that keeps state between requests (`ports/state-thread.ts`). `workerData` is the URL of a module. The
// function that the module's `createHandler` returns handles the requests, one at a time.

lowerThreadPriority();

const port = parentPort;
if (port === null) throw new Error("This file runs as a worker thread only.");
/** `workerData` is untyped; only `state-thread.ts` starts this file. */
const { createHandler } = (await import(String(workerData))) as StateThreadModule<unknown, unknown>;
const handle = createHandler();

port.on("message", (request: unknown) => port.postMessage(handle(request)));
