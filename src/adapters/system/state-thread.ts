import { Worker } from "node:worker_threads";
import type { Clock } from "../../ports/clock.ts";
import type { StateThread } from "../../ports/state-thread.ts";

const RESPONSE_MS_MAX = 60_000;

/**
 * Starts a thread for a module that exports `createHandler` (`ports/state-thread.ts`). It does not keep the process
 * alive.
 */
export function openStateThread<Request, Response>(
  module: URL,
  { memoryMibMax }: { readonly memoryMibMax: number },
  clock: Pick<Clock, "setTimeout">,
): StateThread<Request, Response> {
  const worker = new Worker(new URL("./state-thread-worker.ts", import.meta.url), {
    workerData: module.href,
    resourceLimits: { maxOldGenerationSizeMb: memoryMibMax },
  });
  worker.unref();
  const ended = Promise.withResolvers<void>();
  let failure: Error | null = null;
  let pending: PromiseWithResolvers<Response> | null = null;

  const fail = (error: Error) => {
    failure ??= error;
    pending?.reject(failure);
    pending = null;
  };
  worker.on("message", (response: Response) => {
    pending?.resolve(response);
    pending = null;
  });
  worker.on("error", (error) => fail(error instanceof Error ? error : new Error(String(error))));
  worker.on("exit", (code) => {
    fail(new Error(`The thread ended with code ${code}.`));
    ended.resolve();
  });

  return {
    async request(request) {
      if (failure !== null) throw failure;
      if (pending !== null) throw new Error("The previous request has no response yet.");
      const response = Promise.withResolvers<Response>();
      pending = response;
      const cancelTimer = clock.setTimeout(() => {
        fail(new Error(`A response took longer than ${RESPONSE_MS_MAX} ms.`));
        void worker.terminate();
      }, RESPONSE_MS_MAX);
      // While a request is pending, the thread keeps the process alive.
      worker.ref();
      try {
        worker.postMessage(request);
        return await response.promise;
      } finally {
        // If the request could not be copied to the thread, the thread still accepts other requests.
        if (pending === response) pending = null;
        worker.unref();
        cancelTimer();
      }
    },
    async close() {
      fail(new Error("The thread was closed."));
      await worker.terminate();
      await ended.promise;
    },
  };
}
