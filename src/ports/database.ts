/** `request` if a caller's request waits for the statement, `background` for all other work. */
export type StatementPriority = "request" | "background";

/** The store, embedded or on a server. Statements use PostgreSQL's dialect of SQL. */
export interface Database {
  /**
   * Runs one statement. Parameters are scalars or arrays (`$1::int8[]` with UNNEST). Returns timestamps as `Date` and
   * int8 as number. Throws `AppError("store_unavailable")` if the store is unreachable or refuses writes.
   *
   * @param priority  `request` for reads that a caller waits for, with a timeout of seconds; `background` by default,
   *   with a longer timeout
   */
  query<Row extends object = Record<string, unknown>>(
    text: string,
    parameters?: readonly unknown[],
    priority?: StatementPriority,
  ): Promise<Row[]>;
  /**
   * Runs a transaction: commits when `run` resolves, rolls back when it throws. The embedded store runs nothing else
   * during a transaction, so `run` must await only its own statements and send them all through `transaction`. If the
   * response to the commit is lost (`store_unavailable`), the transaction may be committed, so it must be repeatable.
   *
   * @param priority  `request` if a caller waits for it, with a timeout of seconds for each statement
   */
  transaction<Result>(
    run: (transaction: Transaction) => Promise<Result>,
    priority?: StatementPriority,
  ): Promise<Result>;
  close(): Promise<void>;
}

export interface Transaction {
  /** Runs one statement, as `Database.query`. If it fails, the transaction is rolled back. */
  query<Row extends object = Record<string, unknown>>(text: string, parameters?: readonly unknown[]): Promise<Row[]>;
}
