/**
 * Wakes subscribers in this process and in others when there are changes to read. A wake-up carries no data. It may be
 * spurious, combine several publications, or be lost during a disconnection, so subscribers also poll.
 */
export interface Bus {
  /**
   * Wakes the subscribers of `topic`. Returns immediately and never throws; other processes are notified when the
   * connection is up.
   *
   * @param topic  1 to 64 characters of `a-z`, `0-9`, `_`, `.`, `-`; a process uses at most 256 of them
   * @param hint   at most 256 characters; of several in a burst only the last is delivered
   */
  publish(topic: string, hint?: string): void;
  /**
   * Calls `wake` after each burst of publications, and with `null` after a disconnection, when publications may have been
   * missed. `wake` must not throw. Returns a function that unsubscribes.
   */
  subscribe(topic: string, wake: (hint: string | null) => void): () => void;
  /** False while messages of other processes cannot be received. */
  readonly isConnected: boolean;
  /** Resolves when all publications are sent, or after two seconds; for processes that end immediately afterwards. */
  flush(): Promise<void>;
  close(): Promise<void>;
}
