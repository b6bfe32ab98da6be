/**
 * Wakes those who wait for news, in this process and in others. It carries no news itself: a wake-up may come without any,
 * many may come as one, and one may be lost while the connection is away. Whoever waits therefore also looks by
 * himself now and then.
 */
export interface Bus {
  /**
   * Tells the subscribers of `topic` that there is something new. Never waits and never throws; told to others as soon
   * as the connection allows.
   *
   * @param topic  1 to 64 characters of `a-z`, `0-9`, `_`, `.`, `-`; a process uses at most 256 of them
   * @param hint   at most 256 characters; of several in a burst the last one arrives
   */
  publish(topic: string, hint?: string): void;
  /**
   * Calls `wake` after each burst of publications, and with `null` when something may have been missed (the connection
   * was away). `wake` must not throw. The returned function ends it.
   */
  subscribe(topic: string, wake: (hint: string | null) => void): () => void;
  /** False while other processes cannot be heard. */
  readonly isConnected: boolean;
  /** Resolves once the others have been told what was published, or two seconds later: for who ends at once. */
  flush(): Promise<void>;
  close(): Promise<void>;
}
