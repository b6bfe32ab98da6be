import { parentPort, workerData } from "node:worker_threads";
import type { WorkerModule } from "../../ports/worker-pool.ts";
import { lowerThreadPriority } from "./process-priority.ts";

// Thread of a worker pool. It runs the function `runTask` of the module in `workerData`, one task at a time.

lowerThreadPriority();

const port = parentPort;
if (port === null) throw new Error("This file runs as a worker thread only.");
/** `workerData` is untyped; only `worker-pool.ts` starts this file. */
const { runTask } = (await import(String(workerData))) as WorkerModule<unknown, unknown>;

port.on("message", (task: unknown) => {
  const { result, transfer } = runTask(task);
  port.postMessage(result, transfer);
});
