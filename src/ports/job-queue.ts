import type { Transaction } from "./database.ts";

/** A job that this process has fetched and must renew until it is completed or given back. */
export interface Job {
  readonly id: string;
  /** Which fetch of the job this is. Calls with an older one change nothing. */
  readonly attempt: number;
  /** The data passed to `enqueue`, serialised to JSON and parsed. */
  readonly data: unknown;
}

/**
 * A queue of jobs in the store, shared by all nodes. A job is run at least once: if its worker stops renewing it,
 * another worker fetches it. Handlers must therefore be idempotent.
 */
export interface JobQueue {
  /**
   * Creates the queue if it does not exist. Call it before a transaction that calls `enqueue` or `complete`: on the
   * embedded store, which runs nothing else during a transaction, creating it there would never end.
   */
  prepare(): Promise<void>;
  /**
   * Adds a job in the caller's transaction. Call `announce` after the commit.
   *
   * @param priority  jobs with a larger number are fetched first, equal ones in the order in which they were added
   */
  enqueue(transaction: Transaction, job: { readonly data: object; readonly priority: number }): Promise<void>;
  /** Wakes the workers of all nodes. */
  announce(): void;
  /**
   * Calls `wake` when jobs may be waiting. It can be lost, so workers also poll. Returns a function that unsubscribes.
   */
  onAnnounced(wake: () => void): () => void;
  /** Takes the first waiting jobs, at most `countMax`. The returned list is in no particular order. */
  fetch(countMax: number): Promise<readonly Job[]>;
  /** Extends the time after which other workers may take these jobs. Call it every few seconds. */
  renew(jobs: readonly Job[]): Promise<void>;
  /** Ends a job in the caller's transaction. Does nothing if it has ended or another worker has taken it. */
  complete(transaction: Transaction, job: Job): Promise<void>;
  /** Makes a fetched job available to all workers after about a second. */
  giveBack(job: Job): Promise<void>;
  /** Makes jobs available whose workers stopped renewing them, and deletes ended jobs. Call it every few seconds. */
  reclaim(): Promise<void>;
}

export interface JobQueues {
  /** @param name  lower-case letters; nodes that pass the same name share the queue */
  open(name: string): JobQueue;
  /** Resolves when no statement is running. */
  close(): Promise<void>;
}
