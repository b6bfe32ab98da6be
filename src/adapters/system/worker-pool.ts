import { Worker } from "node:worker_threads";
import { AppError } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { WorkerPool } from "../../ports/worker-pool.ts";

/** One thread: the event loop and the embedded store need the other cores. */
const THREADS = 1;
const WAITING_TASKS_MAX = 8;
const TASK_MS_MAX = 30_000;
/** A thread without a task for this time ends, because it holds tens of megabytes. */
const IDLE_MS_MAX = 60_000;

interface Job {
  readonly task: unknown;
  readonly transfer: readonly ArrayBuffer[];
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly worker: Worker;
  job: Job | null;
  cancelTimer: () => void;
}

/** Opens a pool of worker threads for a module that exports `runTask` (`ports/worker-pool.ts`). */
export function openWorkerPool<Task, Result>(module: URL, clock: Pick<Clock, "setTimeout">): WorkerPool<Task, Result> {
  const threads = new Set<Thread>();
  const waitingJobs: Job[] = [];
  const exits = new Set<Promise<unknown>>();
  let isClosed = false;

  /** Ends a thread and fails its task. A thread that is replaced may still be ending. */
  const discard = (thread: Thread, error: Error) => {
    if (!threads.delete(thread)) return;
    thread.cancelTimer();
    const exit = thread.worker.terminate().finally(() => exits.delete(exit));
    exits.add(exit);
    thread.job?.reject(error);
    assignJobs();
  };

  const startThread = (): Thread => {
    const worker = new Worker(new URL("./worker-thread.ts", import.meta.url), { workerData: module.href });
    const thread: Thread = { worker, job: null, cancelTimer: () => {} };
    worker.on("message", (result: unknown) => {
      const { job } = thread;
      thread.job = null;
      // An idle thread must not keep the process alive.
      worker.unref();
      thread.cancelTimer();
      thread.cancelTimer = clock.setTimeout(() => discard(thread, new Error("The thread is idle.")), IDLE_MS_MAX);
      job?.resolve(result);
      assignJobs();
    });
    worker.on("error", (error) => discard(thread, error instanceof Error ? error : new Error(String(error))));
    worker.on("exit", (code) => discard(thread, new Error(`The worker thread ended with code ${code}.`)));
    threads.add(thread);
    return thread;
  };

  const assignJobs = () => {
    while (waitingJobs.length > 0 && !isClosed) {
      const idleThread = [...threads].find(({ job }) => job === null);
      if (idleThread === undefined && threads.size >= THREADS) return;
      const thread = idleThread ?? startThread();
      const job = waitingJobs.shift();
      if (job === undefined) return;
      thread.job = job;
      thread.worker.ref();
      thread.cancelTimer();
      thread.cancelTimer = clock.setTimeout(
        () => discard(thread, new Error(`A task took longer than ${TASK_MS_MAX} ms.`)),
        TASK_MS_MAX,
      );
      thread.worker.postMessage(job.task, job.transfer);
    }
  };

  return {
    run(task, transfer) {
      if (isClosed) return Promise.reject(new AppError("draining", "The service is shutting down"));
      if (waitingJobs.length >= WAITING_TASKS_MAX)
        return Promise.reject(new AppError("overloaded", "Too many large computations are waiting; try again later"));
      return new Promise<Result>((resolve, reject) => {
        // The module's types say what the thread returns.
        waitingJobs.push({ task, transfer, resolve: (result) => resolve(result as Result), reject });
        assignJobs();
      });
    },
    async close() {
      isClosed = true;
      const error = new AppError("draining", "The service is shutting down");
      for (const { reject } of waitingJobs.splice(0)) reject(error);
      for (const thread of [...threads]) discard(thread, error);
      await Promise.all(exits);
    },
  };
}
