import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";

const EVERY_MS = 1_000;
const ANSWER_MS_MAX = 3_000;

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
      // A store that hangs says nothing: silence counts as absence, and a late answer as a return.
      const cancelDeadline = this.#clock.setTimeout(() => {
        this.#isUp = false;
      }, ANSWER_MS_MAX);
      const note = (isUp: boolean) => {
        cancelDeadline();
        this.#note(isUp);
      };
      this.#database.query("select 1 as up").then(
        () => note(true),
        () => note(false),
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
