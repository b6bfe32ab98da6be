/** Time, passed in so that tests decide when it passes. */
export interface Clock {
  /** Unix milliseconds, UTC. */
  now(): number;
  /** Milliseconds that only ever grow; for measuring durations. */
  monotonic(): number;
  /** Runs `callback` once after `delayMs`; the returned function cancels it. Does not keep the process alive. */
  setTimeout(callback: () => void, delayMs: number): () => void;
  /** Resolves after `delayMs`, or rejects with the signal's reason as soon as it aborts. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
  /**
   * Resolves once everything else that is ready has had its turn. Long work asks for one between its pieces, so that no
   * request waits for more than a piece of it.
   */
  yieldToEventLoop(): Promise<void>;
}
