import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";

const PROBE_PAUSE_MS = 1_000;
const RESPONSE_MS_MAX = 3_000;

/** Probes the store once a second, so that health and readiness requests do not query it. */
export class StoreProbe {
  readonly #database: Database;
  readonly #clock: Clock;
  #isUp = true;
  #cancelTimer: () => void = () => {};
  #isStopped = false;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  start(): void {
    this.#cancelTimer = this.#clock.setTimeout(() => void this.#probe(), PROBE_PAUSE_MS);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
  }

  /** Marks the store as down if a query has no response after `RESPONSE_MS_MAX`, and as up when a response arrives. */
  async #probe(): Promise<void> {
    const cancelDeadline = this.#clock.setTimeout(() => {
      this.#isUp = false;
    }, RESPONSE_MS_MAX);
    this.#isUp = await this.#database.query("select 1 as up").then(
      () => true,
      () => false,
    );
    cancelDeadline();
    if (!this.#isStopped) this.start();
  }
}
