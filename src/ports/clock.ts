/** Source of time. It is injected, so that tests can control it. */
export interface Clock {
  /** Unix milliseconds, UTC. */
  now(): number;
  /** Returns monotonic milliseconds, to measure durations. */
  monotonic(): number;
  /** Runs `callback` once after `delayMs`; the returned function cancels it. Does not keep the process alive. */
  setTimeout(callback: () => void, delayMs: number): () => void;
  /** Resolves after `delayMs`, or rejects with the signal's reason as soon as it aborts. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
  /**
   * Resolves after the event loop has processed pending events. Long work awaits it between its slices, so that a
   * request waits for at most one slice.
   */
  yieldToEventLoop(): Promise<void>;
}
