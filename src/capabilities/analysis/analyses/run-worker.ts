import { HOUR_MS } from "../../../lib/durations.ts";
import { PeriodicJob } from "../../../lib/periodic-job.ts";
import type { Job, JobQueue } from "../../../ports/job-queue.ts";
import { endWithError } from "./perform-run.ts";
import type { AnalysesPorts } from "./ports.ts";
import { LeaseLostError } from "./run-errors.ts";
import { selectOverdueRuns } from "./run-queries.ts";
import type { RunJob } from "./runs.ts";

/**
 * Jobs are also fetched at this interval, because a notification can be lost and a job can become available without
 * one.
 */
const POLL_MS = 1_000;
/** Interval of renewals: a third of the time after which other workers may take a job. */
const RENEW_MS = 3_000;
const RECLAIM_MS = 2_000;
const OVERDUE_MS = 10_000;
/** Time from the request after which a run ends with an error. */
const RUN_MS_MAX = HOUR_MS;
const OVERDUE_BATCH = 100;
/** Time limit for runs and statements at shutdown. Another worker takes over runs that have not ended. */
const STOP_MS_MAX = 2_000;

type RunWorkerPorts = Pick<AnalysesPorts, "database" | "clock" | "log"> & {
  readonly queue: JobQueue;
  readonly eventLog: Pick<AnalysesPorts["eventLog"], "announce">;
  readonly perform: (analysisId: string, job: Job, signal: AbortSignal) => Promise<void>;
  /** Maximum number of concurrent runs. */
  readonly concurrency: number;
};

/** Runs analyses from the queue, several at a time, until it is stopped. */
export class RunWorker {
  readonly #ports: RunWorkerPorts;
  readonly #stop = new AbortController();
  readonly #active = new Map<Job, Promise<void>>();
  readonly #fetching: PeriodicJob;
  readonly #jobs: readonly PeriodicJob[];
  #unsubscribe: () => void = () => {};

  constructor(ports: RunWorkerPorts) {
    const { queue } = ports;
    this.#ports = ports;
    this.#fetching = this.#createJob("fetch", POLL_MS, () => this.#fetch());
    this.#jobs = [
      this.#fetching,
      this.#createJob("renew", RENEW_MS, () => queue.renew([...this.#active.keys()])),
      this.#createJob("reclaim", RECLAIM_MS, () => queue.reclaim()),
      this.#createJob("end_overdue", OVERDUE_MS, () => this.#endOverdue()),
    ];
  }

  /** True if the last attempt to fetch, renew, reclaim or end runs failed. */
  get isFailing(): boolean {
    return this.#jobs.some(({ hasFailed }) => hasFailed);
  }

  start(): void {
    this.#unsubscribe = this.#ports.queue.onAnnounced(() => this.#fetching.wake());
    for (const job of this.#jobs) job.start();
  }

  /** Aborts the active runs and returns their jobs to the queue. */
  async stop(): Promise<void> {
    const { clock } = this.#ports;
    this.#unsubscribe();
    this.#stop.abort(new Error("The service is shutting down"));
    const deadline = new AbortController();
    const hasEnded = Promise.all(this.#jobs.map((job) => job.stop())).then(() => Promise.all(this.#active.values()));
    await Promise.race([
      hasEnded.finally(() => deadline.abort()),
      clock.sleep(STOP_MS_MAX, deadline.signal).catch(() => {}),
    ]);
  }

  /** Creates a job that logs the first of consecutive failures. */
  #createJob(name: string, intervalMs: number, run: () => Promise<unknown>): PeriodicJob {
    const { clock, log } = this.#ports;
    return new PeriodicJob({
      clock,
      intervalMs,
      run,
      onFailure(error, failures) {
        if (failures === 1)
          log.warn({ task: name, err: error }, "the queue of analyses could not be used and is tried again");
      },
    });
  }

  async #fetch(): Promise<void> {
    const { queue, concurrency } = this.#ports;
    const freeCount = concurrency - this.#active.size;
    if (freeCount > 0) for (const job of await queue.fetch(freeCount)) this.#run(job);
  }

  #run(job: Job): void {
    const running = this.#perform(job).finally(() => {
      this.#active.delete(job);
      this.#fetching.wake();
    });
    this.#active.set(job, running);
  }

  async #perform(job: Job): Promise<void> {
    const { queue, perform, log } = this.#ports;
    // The queue contains only jobs that `enqueueRun` added.
    const { analysisId } = job.data as RunJob;
    try {
      await perform(analysisId, job, this.#stop.signal);
    } catch (error) {
      if (!(error instanceof LeaseLostError) && !this.#stop.signal.aborted)
        log.warn({ analysis_id: analysisId, err: error }, "an analysis failed and will be tried again");
      // If this also fails, another worker takes the job after some seconds without a renewal.
      await queue.giveBack(job).catch(() => {});
    }
  }

  async #endOverdue(): Promise<void> {
    const { database, clock, queue, eventLog } = this.#ports;
    const now = clock.now();
    const message = "The analysis did not end within an hour of its request. Please request it again later.";
    for (const run of await selectOverdueRuns(database, now - RUN_MS_MAX, OVERDUE_BATCH)) {
      await queue.prepare();
      await database.transaction((transaction) => endWithError(transaction, queue, run, { message, fence: null, now }));
      eventLog.announce();
    }
  }
}
