import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from "kysely";
import type { Transaction } from "../../ports/database.ts";
import type { Tables } from "../../ports/tables.ts";

/** Rows of one statement and how many it wrote. */
export interface SqlResult {
  readonly rows: Record<string, unknown>[];
  readonly affectedRows: number;
}

/** One conversation with the store: what a Kysely connection needs, whichever home the store has. */
export interface SqlSession {
  run(text: string, parameters: readonly unknown[]): Promise<SqlResult>;
  /** Opens a transaction with the given statement; until `end`, everything this session runs belongs to it. */
  begin(statement: string): Promise<void>;
  end(statement: "commit" | "rollback"): Promise<void>;
  /** Gives the session back. One that may be left in a transaction is thrown away. */
  release(): Promise<void>;
}

/** A Kysely connection over a session. It remembers a failed statement, because PostgreSQL answers "ok" to its commit. */
class SessionConnection implements DatabaseConnection {
  readonly session: SqlSession;
  /** A statement of the running transaction failed: only a rollback can follow. */
  hasFailed = false;

  constructor(session: SqlSession) {
    this.session = session;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      const { rows, affectedRows } = await this.session.run(query.sql, query.parameters);
      return { rows: rows as R[], numAffectedRows: BigInt(affectedRows) };
    } catch (error) {
      this.hasFailed = true;
      throw error;
    }
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator and this store pages by key instead.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("Streaming is not offered: read in pages by key.");
  }
}

class SessionDriver implements Driver {
  readonly #openSession: () => Promise<SqlSession>;
  readonly #close: () => Promise<void>;

  constructor(openSession: () => Promise<SqlSession>, close: () => Promise<void>) {
    this.#openSession = openSession;
    this.#close = close;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SessionConnection> {
    return new SessionConnection(await this.#openSession());
  }

  async beginTransaction(connection: SessionConnection, settings: TransactionSettings): Promise<void> {
    const isolation = settings.isolationLevel === undefined ? "" : ` isolation level ${settings.isolationLevel}`;
    const access = settings.accessMode === undefined ? "" : ` ${settings.accessMode}`;
    await connection.session.begin(`start transaction${isolation}${access}`);
    connection.hasFailed = false;
  }

  async commitTransaction(connection: SessionConnection): Promise<void> {
    if (connection.hasFailed) throw new Error("A statement of this transaction failed, so it cannot be committed.");
    await connection.session.end("commit");
  }

  async rollbackTransaction(connection: SessionConnection): Promise<void> {
    await connection.session.end("rollback");
  }

  async releaseConnection(connection: SessionConnection): Promise<void> {
    await connection.session.release();
  }

  async destroy(): Promise<void> {
    await this.#close();
  }
}

/** PostgreSQL's dialect over our own sessions; the same for the embedded store and the server. */
export function createSessionDialect(openSession: () => Promise<SqlSession>, close: () => Promise<void>): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new SessionDriver(openSession, close) as Driver,
    createIntrospector: (kysely: Kysely<unknown>) => new PostgresIntrospector(kysely),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

/** `Database.transaction` over Kysely's: one session from begin to end, undone when `run` throws. */
export function runTransaction<Result>(
  kysely: Kysely<Tables>,
  run: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  return kysely.transaction().execute((kyselyTransaction) =>
    run({
      async query<Row extends Record<string, unknown>>(text: string, parameters: readonly unknown[] = []) {
        const { rows } = await kyselyTransaction.executeQuery<Row>(CompiledQuery.raw(text, [...parameters]));
        return rows;
      },
    }),
  );
}
