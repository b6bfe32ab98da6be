import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";

const EVERY_MS = 1_000;

/** Asks the store once a second whether it is there, so that health and readiness need not ask themselves. */
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
    this.#cancel = this.#clock.setTimeout(() => {
      this.#database.query("select 1 as up").then(
        () => this.#note(true),
        () => this.#note(false),
      );
    }, EVERY_MS);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  #note(isUp: boolean): void {
    this.#isUp = isUp;
    if (!this.#isStopped) this.start();
  }
}
