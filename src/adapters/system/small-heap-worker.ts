import { setFlagsFromString } from "node:v8";
import { Worker, type WorkerOptions } from "node:worker_threads";

/** Size of the young generation, in MiB. It contains the objects of the last few messages. */
const SEMI_SPACE_MIB = 4;

/** Starts a worker thread with a small young generation, because each thread has one of its own. */
export function startSmallHeapWorker(program: URL, options: WorkerOptions): Worker {
  // The process-wide flag takes precedence over `resourceLimits`. Setting it does not resize the heap of this thread.
  setFlagsFromString(`--max-semi-space-size=${SEMI_SPACE_MIB}`);
  return new Worker(program, options);
}
