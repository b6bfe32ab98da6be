/** Who waits for a statement: somebody who made a request, or only ourselves. */
export type StatementPriority = "request" | "background";

/** The store in one SQL dialect (PostgreSQL's), whether it is embedded or a server. */
export interface Database {
  /**
   * A hot-path statement as text. Parameters are scalars or arrays (`$1::int8[]` with UNNEST). Timestamps come back as
   * `Date`, int8 as number. Throws `AppError("store_unavailable")` when the store cannot be reached or takes no writes.
   *
   * @param patience  `request` for a read that a caller waits for: a store that is silent is unavailable within seconds,
   *   and not first when work in the background, the default, would give up
   */
  query<Row extends Record<string, unknown>>(
    text: string,
    parameters?: readonly unknown[],
    patience?: StatementPriority,
  ): Promise<Row[]>;
  /**
   * Runs statements that become true together or not at all: kept when `run` resolves, undone when it throws. The
   * embedded store does nothing else meanwhile, so `run` waits for nothing but its own statements, and none of them goes
   * past `transaction`. When the commit's answer is lost (`store_unavailable`) it may have been kept: repeating must be
   * harmless.
   */
  transaction<Result>(run: (transaction: Transaction) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** A transaction under way. */
export interface Transaction {
  /** As `Database.query`; after a failed statement only the end can follow. */
  query<Row extends Record<string, unknown>>(text: string, parameters?: readonly unknown[]): Promise<Row[]>;
}
