/**
 * Wakes subscribers in this process and in others when there are changes to read. A wake-up carries no data. It may be
 * spurious, combine several publications, or be lost during a disconnection, so subscribers also poll.
 */
export interface Bus {
  /**
   * Wakes the subscribers of `topic`. Returns immediately and never throws; other processes are notified as soon
   * as the bus is connected.
   *
   * @param topic  1 to 64 characters of `a-z`, `0-9`, `_`, `.`, `-`; a process uses at most 256 of them
   * @param hint   at most 256 characters; of several hints in a burst only the last is delivered
   */
  publish(topic: string, hint?: string): void;
  /**
   * Calls `wake` after each burst of publications. After a disconnection, calls it with `null`, because publications
   * may have been missed. `wake` must not throw. Returns a function that unsubscribes.
   */
  subscribe(topic: string, wake: (hint: string | null) => void): () => void;
  /** False while messages of other processes cannot be received. */
  readonly isConnected: boolean;
  /** Resolves when all publications are sent, or after two seconds. Call it before the process ends. */
  flush(): Promise<void>;
  close(): Promise<void>;
}
