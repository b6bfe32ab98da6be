import type { Clock } from "../../../ports/clock.ts";

/** Lets one loop wait for work. If `wake` was called before `wait`, the wait ends at once. */
export class WakeUp {
  #isSet = false;
  #end: () => void = () => {};

  wake(): void {
    this.#isSet = true;
    this.#end();
  }

  /** Resolves after `wake`, or after `waitMs` if it is not null. */
  wait(clock: Clock, waitMs: number | null): Promise<void> {
    return new Promise((resolve) => {
      const cancel = waitMs === null ? () => {} : clock.setTimeout(() => this.#end(), waitMs);
      this.#end = () => {
        cancel();
        this.#isSet = false;
        this.#end = () => {};
        resolve();
      };
      if (this.#isSet) this.#end();
    });
  }
}
