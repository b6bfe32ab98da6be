import { Worker } from "node:worker_threads";
import { AppError } from "../../domain/errors.ts";
import { currentCallerKey } from "../../lib/current-caller.ts";
import { FairSemaphore, QueueFullError, type Release } from "../../lib/fair-semaphore.ts";
import type { Clock } from "../../ports/clock.ts";
import type { WorkerPool } from "../../ports/worker-pool.ts";

/** Number of threads. One only, because the event loop and the embedded store need the other cores. */
const THREADS = 1;
const WAITING_TASKS_MAX = 8;
/** Maximum number of waiting tasks of one caller, so that the queue has room for other callers. */
const WAITING_PER_CALLER_MAX = 4;
const TASK_MS_MAX = 30_000;
/** Idle time after which a thread is ended, because it uses tens of megabytes. */
const IDLE_MS_MAX = 60_000;

interface Job {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly worker: Worker;
  job: Job | null;
  cancelTimer: () => void;
}

const createClosedError = () => new AppError("draining", "The service is shutting down");

/**
 * Opens a pool of worker threads for a module that exports `runTask` (`ports/worker-pool.ts`). Waiting callers are
 * served in round-robin order.
 */
export function openWorkerPool<Task, Result>(module: URL, clock: Pick<Clock, "setTimeout">): WorkerPool<Task, Result> {
  const threads = new Set<Thread>();
  const slots = new FairSemaphore({
    slots: THREADS,
    waiting: WAITING_TASKS_MAX,
    waitingPerKey: WAITING_PER_CALLER_MAX,
  });
  const closing = new AbortController();
  const exits = new Set<Promise<unknown>>();

  /** Ends a thread and fails its task. The old thread may still be ending when its replacement starts. */
  const discard = (thread: Thread, error: Error) => {
    if (!threads.delete(thread)) return;
    thread.cancelTimer();
    const exit = thread.worker.terminate().finally(() => exits.delete(exit));
    exits.add(exit);
    thread.job?.reject(error);
  };

  const startThread = (): Thread => {
    const worker = new Worker(new URL("./worker-thread.ts", import.meta.url), { workerData: module.href });
    const thread: Thread = { worker, job: null, cancelTimer: () => {} };
    worker.on("message", (result: unknown) => {
      const { job } = thread;
      setIdle(thread);
      job?.resolve(result);
    });
    worker.on("error", (error) => discard(thread, error instanceof Error ? error : new Error(String(error))));
    worker.on("exit", (code) => discard(thread, new Error(`The worker thread ended with code ${code}.`)));
    threads.add(thread);
    return thread;
  };

  const setIdle = (thread: Thread) => {
    thread.job = null;
    // An idle thread must not keep the process alive.
    thread.worker.unref();
    thread.cancelTimer();
    thread.cancelTimer = clock.setTimeout(() => discard(thread, new Error("The thread is idle.")), IDLE_MS_MAX);
  };

  /** @throws AppError `overloaded` if too many tasks wait; `draining` if the pool closes */
  const waitForTurn = (): Promise<Release> =>
    slots.acquire(currentCallerKey(), closing.signal).catch((error: unknown) => {
      if (!(error instanceof QueueFullError)) throw createClosedError();
      throw new AppError("overloaded", "Too many large computations are waiting; try again later");
    });

  const runOnThread = (task: unknown, transfer: readonly ArrayBuffer[]): Promise<unknown> => {
    const thread = [...threads].find(({ job }) => job === null) ?? startThread();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    thread.job = { resolve, reject };
    thread.worker.ref();
    thread.cancelTimer();
    thread.cancelTimer = clock.setTimeout(
      () => discard(thread, new Error(`A task took longer than ${TASK_MS_MAX} ms.`)),
      TASK_MS_MAX,
    );
    try {
      thread.worker.postMessage(task, transfer);
    } catch (error) {
      // The task could not be copied to the thread.
      setIdle(thread);
      reject(error);
    }
    return promise;
  };

  return {
    async run(task, transfer) {
      const release = await waitForTurn();
      try {
        if (closing.signal.aborted) throw createClosedError();
        // The result has the type that the module's `runTask` declares.
        return (await runOnThread(task, transfer)) as Result;
      } finally {
        release();
      }
    },
    async close() {
      closing.abort();
      for (const thread of [...threads]) discard(thread, createClosedError());
      await Promise.all(exits);
    },
  };
}
