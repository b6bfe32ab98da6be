import { AsyncEvent, type Timer } from "./async-event.ts";

export interface PeriodicJobOptions {
  readonly clock: Timer;
  /** Milliseconds from the start to the first run; 0 by default. */
  readonly delayMs?: number;
  /** Milliseconds from the end of a run to the next one, or a function of the number of consecutive failures. */
  readonly intervalMs: number | ((failures: number) => number);
  /** Does the work of one run. `signal` aborts when the job stops. */
  readonly run: (signal: AbortSignal) => unknown;
  /**
   * Called after a failed run with the number of consecutive failures, but not after `stop`. Required unless `run`
   * never fails: without it, an error becomes an unhandled rejection.
   */
  readonly onFailure?: (error: unknown, failures: number) => void;
}

/**
 * Repeats work with a pause after each run, so that runs never overlap. A failed run does not end the job. The pauses
 * do not keep the process alive.
 */
export class PeriodicJob {
  readonly #options: PeriodicJobOptions;
  readonly #wakeUp = new AsyncEvent();
  #stop = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  #failures = 0;

  constructor(options: PeriodicJobOptions) {
    this.#options = options;
  }

  /** True if the last run failed. */
  get hasFailed(): boolean {
    return this.#failures > 0;
  }

  start(): void {
    this.#stop = new AbortController();
    this.#wakeUp.reset();
    this.#loop = this.#repeat(this.#stop.signal);
  }

  /** Ends the current pause. If called during a run, the next run follows without a pause. */
  wake(): void {
    this.#wakeUp.set();
  }

  /** Resets the number of consecutive failures. Needed if `run` returns only after a failure. */
  reportSuccess(): void {
    this.#failures = 0;
  }

  /** Starts no further run. Resolves when the current run has ended. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wakeUp.set();
    await this.#loop;
  }

  async #repeat(signal: AbortSignal): Promise<void> {
    const { clock, delayMs = 0, intervalMs, run, onFailure } = this.#options;
    if (delayMs > 0) await this.#wakeUp.wait(clock, delayMs);
    while (!signal.aborted) {
      try {
        await run(signal);
        this.#failures = 0;
      } catch (error) {
        if (onFailure === undefined) throw error;
        this.#failures += 1;
        if (!signal.aborted) onFailure(error, this.#failures);
      }
      if (signal.aborted) return;
      await this.#wakeUp.wait(clock, typeof intervalMs === "number" ? intervalMs : intervalMs(this.#failures));
    }
  }
}

/** Interval at which a node without the lease of a job checks for it. */
const STANDBY_CHECK_PAUSE_MS = 5_000;

/** Runs named periodic jobs. A failure is logged, and the job runs again after its usual pause. */
export class BackgroundJobs {
  readonly #clock: Timer;
  readonly #log: { warn(fields: object, message: string): void };
  readonly #jobs = new Map<string, PeriodicJob>();
  #isStopping = false;

  constructor(clock: Timer, log: { warn(fields: object, message: string): void }) {
    this.#clock = clock;
    this.#log = log;
  }

  /** @param isOurs  returns whether this node must run the job now; always true by default */
  start(name: string, pauseMs: number, run: () => Promise<unknown>, isOurs: () => boolean = () => true): void {
    if (this.#isStopping) return;
    if (this.#jobs.has(name)) throw new RangeError(`the background job ${name} was already started`);
    let isOursNow = true;
    const job = new PeriodicJob({
      clock: this.#clock,
      intervalMs: () => (isOursNow ? pauseMs : STANDBY_CHECK_PAUSE_MS),
      async run() {
        isOursNow = isOurs();
        if (isOursNow) await run();
      },
      onFailure: (error) => this.#log.warn({ job: name, err: error }, "background job failed and will run again"),
    });
    this.#jobs.set(name, job);
    job.start();
  }

  /** True after `stop`. Long runs should then end early. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Names of the jobs whose last run failed. */
  get failing(): readonly string[] {
    return [...this.#jobs].filter(([, job]) => job.hasFailed).map(([name]) => name);
  }

  /** Starts no further runs, and resolves when the current runs have ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#jobs.values()].map((job) => job.stop()));
  }
}
