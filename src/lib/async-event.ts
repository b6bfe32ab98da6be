/** Timer of a clock. The returned function cancels it. */
export interface Timer {
  setTimeout(callback: () => void, delayMs: number): () => void;
}

/** An auto-reset event for one waiting loop. If the event is already set, `wait` resolves at once. */
export class AsyncEvent {
  #isSet = false;
  #endWait: () => void = () => {};

  set(): void {
    this.#isSet = true;
    this.#endWait();
  }

  reset(): void {
    this.#isSet = false;
  }

  /** Resolves after `set`, or after `waitMs` if it is not null. */
  wait(timer: Timer, waitMs: number | null): Promise<void> {
    return new Promise((resolve) => {
      const cancel = waitMs === null ? () => {} : timer.setTimeout(() => this.#endWait(), waitMs);
      this.#endWait = () => {
        cancel();
        this.#isSet = false;
        this.#endWait = () => {};
        resolve();
      };
      if (this.#isSet) this.#endWait();
    });
  }
}
