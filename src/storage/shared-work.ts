/**
 * Work that several callers wait for. A caller whose signal aborts stops waiting, and the work continues for the
 * others. The work is aborted when no caller is waiting.
 */
export class SharedWork<Result> {
  readonly #abort = new AbortController();
  readonly #result: Promise<Result>;
  #callers = 0;

  constructor(work: (signal: AbortSignal) => Promise<Result>) {
    this.#result = work(this.#abort.signal);
    // Without a caller, a rejection has no other handler.
    this.#result.catch(() => {});
  }

  /**
   * Waits for the result.
   *
   * @throws the signal's reason if it aborts; the errors of the work
   */
  async join(signal: AbortSignal): Promise<Result> {
    const aborted = Promise.withResolvers<never>();
    const onAbort = () => aborted.reject(signal.reason);
    this.#callers += 1;
    try {
      signal.throwIfAborted();
      signal.addEventListener("abort", onAbort, { once: true });
      return await Promise.race([this.#result, aborted.promise]);
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#callers -= 1;
      if (this.#callers === 0) this.#abort.abort(new Error("no caller waits for this work"));
    }
  }
}
