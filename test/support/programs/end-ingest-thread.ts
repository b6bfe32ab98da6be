import { createRequire, syncBuiltinESMExports } from "node:module";
import { isMainThread, type Worker } from "node:worker_threads";

// A test loads this module into a service with `--import`. On SIGUSR2 it terminates the ingest thread without a stop
// message, as in a crash.

if (isMainThread && process.argv.includes("serve")) {
  const threads: { Worker: typeof Worker } = createRequire(import.meta.url)("node:worker_threads");
  const RealWorker = threads.Worker;
  let ingestThread: Worker | null = null;
  threads.Worker = class extends RealWorker {
    constructor(...parameters: ConstructorParameters<typeof Worker>) {
      super(...parameters);
      if (String(parameters[0]).endsWith("/ingest-thread.ts")) ingestThread = this;
    }
  };
  syncBuiltinESMExports();
  process.on("SIGUSR2", () => void ingestThread?.terminate());
}
