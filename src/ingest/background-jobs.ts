import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";

/** While another node holds the lease of a job, the job checks this often whether this node has acquired it. */
const STANDBY_MS = 5_000;

/** Jobs that run at fixed pauses. A job that fails is logged and runs again after its usual pause. */
export class BackgroundJobs {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #stop = new AbortController();
  readonly #failing = new Set<string>();
  readonly #running: Promise<void>[] = [];

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** @param isOurs  whether this node is to run the job now; always by default */
  start(name: string, pauseMs: number, run: () => Promise<unknown>, isOurs: () => boolean = () => true): void {
    this.#running.push(this.#loop(name, pauseMs, run, isOurs));
  }

  /** Names of the jobs whose last run failed. */
  get failing(): readonly string[] {
    return [...this.#failing];
  }

  /** Starts no further run and resolves when the current ones have ended. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#running);
  }

  async #loop(name: string, pauseMs: number, run: () => Promise<unknown>, isOurs: () => boolean): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const isOursNow = isOurs();
      try {
        if (isOursNow) await run();
        this.#failing.delete(name);
      } catch (error) {
        this.#failing.add(name);
        this.#log.warn({ job: name, err: error }, "background job failed and will run again");
      }
      await this.#clock.sleep(isOursNow ? pauseMs : STANDBY_MS, signal).catch(() => {});
    }
  }
}
