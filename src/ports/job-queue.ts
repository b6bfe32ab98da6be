import type { Transaction } from "./database.ts";

/** A job that this process has fetched. The process must renew it until the job is completed or given back. */
export interface Job {
  readonly id: string;
  /** Number of times that the job has been fetched. Calls with the attempt of an earlier fetch have no effect. */
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
  /** Calls `wake` when jobs may be waiting. Calls can be lost, so workers also poll. Returns the unsubscription. */
  onAnnounced(wake: () => void): () => void;
  /** Fetches the first waiting jobs, at most `countMax`. The returned list is in no particular order. */
  fetch(countMax: number): Promise<readonly Job[]>;
  /** Extends the time after which other workers may take these jobs. Call it every few seconds. */
  renew(jobs: readonly Job[]): Promise<void>;
  /** Ends a job in the caller's transaction. Does nothing if the job has ended or was fetched by another worker. */
  complete(transaction: Transaction, job: Job): Promise<void>;
  /** Makes a fetched job available to all workers after about a second. */
  giveBack(job: Job): Promise<void>;
  /** Makes jobs that are no longer renewed available again, and deletes ended jobs. Call it every few seconds. */
  reclaim(): Promise<void>;
}

export interface JobQueues {
  /** @param name  lower-case letters; nodes that pass the same name share the queue */
  open(name: string): JobQueue;
  /** Resolves when no statement is running. */
  close(): Promise<void>;
}
