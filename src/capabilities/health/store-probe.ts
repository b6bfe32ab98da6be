import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";

const PAUSE_MS = 1_000;
const RESPONSE_MS_MAX = 3_000;

/** Probes the store once a second, so that health and readiness requests do not query it. */
export class StoreProbe {
  readonly #database: Database;
  readonly #clock: Clock;
  #isUp = true;
  #cancel: () => void = () => {};
  #isStopped = false;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  start(): void {
    this.#cancel = this.#clock.setTimeout(() => void this.#probe(), PAUSE_MS);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  /** A query without a response in time counts as down, and a late response as up. */
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
