import pg from "pg";
import { AppError } from "../../domain/errors.ts";
import type { Release } from "../../lib/fair-semaphore.ts";
import type { Database, StatementPriority } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";
import { encodeArrayParameters } from "./array-parameters.ts";
import { isAnswer, storeUnavailable, toStoreError } from "./errors.ts";
import { runTransaction, type SqlSession } from "./session.ts";
import { createStatementQueue } from "./statement-queue.ts";

const CONNECTIONS_MAX = 10;
/** Maximum number of connections of one caller, so that connections remain for other callers. */
const CONNECTIONS_PER_CALLER_MAX = 8;
/** Maximum number of statements and transactions waiting for a connection. Others fail with `store_unavailable`. */
const WAITING_CALLERS_MAX = 1_024;
/** Maximum wait for a connection, including the time to establish it. */
const CONNECT_MS_MAX = 5_000;
/** Maximum wait of an API request for a connection, including the time to establish it. */
const REQUEST_CONNECT_MS_MAX = 3_000;
const STATEMENT_MS_MAX = 30_000;
const LOCK_MS_MAX = 10_000;
const IDLE_IN_TRANSACTION_MS_MAX = 60_000;
/** Client-side timeout, for a frozen server that does not enforce its statement timeout. */
const RESPONSE_MS_MAX = STATEMENT_MS_MAX + 5_000;
/** Client-side timeout of a statement of an API request. The slowest statement takes tens of milliseconds. */
const REQUEST_RESPONSE_MS_MAX = 3_000;
/** Server-side timeouts in a transaction of an API request, shorter than the client-side timeout. */
const REQUEST_STATEMENT_MS_MAX = 2_500;
const REQUEST_LOCK_MS_MAX = 2_000;
const BEGIN = {
  background: "start transaction",
  // One message, so that the timeouts cost no round trip.
  request: `start transaction; set local statement_timeout = ${REQUEST_STATEMENT_MS_MAX}; set local lock_timeout = ${REQUEST_LOCK_MS_MAX}`,
} as const satisfies Record<StatementPriority, string>;
/** Maximum time until the server ends a statement whose connection was closed, for example by a client's timeout. */
const CONNECTION_CHECK_MS = 1_000;
const SCHEMA_NAME_PATTERN = /^[a-z_][a-z0-9_]{0,62}$/;

const INT8_ARRAY_OID = 1016;
/** Parses an array literal of numbers such as `{1,NULL,3}`. Number arrays contain no quotes. */
function parseInt8Array(text: string): (number | null)[] {
  if (text === "{}") return [];
  return text
    .slice(1, -1)
    .split(",")
    .map((item) => (item === "NULL" ? null : Number(item)));
}

/** Returns int8 as a number, because all stored values are counts or milliseconds, far below 2^53. */
const typeParsers: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: "text" | "binary") {
    if (oid === pg.types.builtins.INT8 && format !== "binary") return Number;
    if (oid === INT8_ARRAY_OID && format !== "binary") return parseInt8Array;
    return format === "binary" ? pg.types.getTypeParser(oid, "binary") : pg.types.getTypeParser(oid, "text");
  },
};

async function runStatement(
  client: pg.PoolClient | pg.Pool,
  text: string,
  parameters: readonly unknown[],
  priority: StatementPriority = "background",
): Promise<Record<string, unknown>[]> {
  try {
    const values = encodeArrayParameters(parameters);
    const responseMsMax = priority === "request" ? REQUEST_RESPONSE_MS_MAX : RESPONSE_MS_MAX;
    // The types of the driver do not declare the timeout of a single query.
    const query: pg.QueryConfig & { readonly query_timeout: number } = { text, values, query_timeout: responseMsMax };
    const { rows } = await client.query<Record<string, unknown>>(query);
    return rows ?? [];
  } catch (error) {
    throw toStoreError(error);
  }
}

function wrapClient(client: pg.PoolClient, priority: StatementPriority, releaseSlot: Release): SqlSession {
  let isInTransaction = false;
  let isBroken = false;
  const run: SqlSession["run"] = async (text, parameters) => {
    try {
      return await runStatement(client, text, parameters, priority);
    } catch (error) {
      // The server does not respond, or the connection is lost.
      if (error instanceof AppError && !isAnswer(error)) isBroken = true;
      throw error;
    }
  };
  return {
    run,
    async begin() {
      isInTransaction = true;
      await run(BEGIN[priority], []);
    },
    async end(statement) {
      // The server rolls back when the connection closes. A rollback would wait for the same timeout again.
      if (isBroken && statement === "rollback") return;
      try {
        await run(statement, []);
        isInTransaction = false;
      } catch (error) {
        isBroken = true;
        throw error;
      }
    },
    async release() {
      // Destroys the connection if it may still be in a transaction.
      client.release(isInTransaction || isBroken);
      releaseSlot();
    },
  };
}

/**
 * Waits for a connection of the pool. The caller must have acquired a slot, so that fewer than the pool's maximum
 * number of connections are in use.
 *
 * @throws AppError `store_unavailable` after `waitMsMax`. A connection that is established later returns to the pool
 */
async function connectWithin(pool: pg.Pool, waitMsMax: number): Promise<pg.PoolClient> {
  const isOneIdle = pool.idleCount > pool.waitingCount;
  const connecting = pool.connect();
  if (isOneIdle) return connecting;
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    timeout.reject(storeUnavailable("The store cannot be reached at the moment."));
    connecting.then(
      (client) => client.release(),
      () => {},
    );
  }, waitMsMax);
  try {
    return await Promise.race([connecting, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The store on a PostgreSQL server (15 or newer), through a bounded pool. Connecting, locks, statements and responses
 * have timeouts. Waiting callers get connections in round-robin order. When a connection is lost, its statements fail
 * with `store_unavailable`.
 *
 * @param options.schema  schema of all tables, created if missing; tests use it for isolation
 * @param options.isReadOnly  whether every statement that writes fails with `store_unavailable`; false by default
 */
export async function openPostgresDatabase(options: {
  readonly url: string;
  readonly schema?: string;
  readonly isReadOnly?: boolean;
  readonly log: Log;
}): Promise<Database> {
  const { url, schema, isReadOnly = false, log } = options;
  if (schema !== undefined && !SCHEMA_NAME_PATTERN.test(schema)) throw new RangeError(`not a schema name: ${schema}`);
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    statement_timeout: STATEMENT_MS_MAX,
    lock_timeout: LOCK_MS_MAX,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS_MAX,
    query_timeout: RESPONSE_MS_MAX,
    keepAlive: true,
    application_name: "parallax",
    options: `-c timezone=UTC -c default_transaction_read_only=${isReadOnly ? "on" : "off"}${schema === undefined ? "" : ` -c search_path=${schema}`}`,
    types: typeParsers,
    verify: (client, done) => {
      client.query(`set client_connection_check_interval = ${CONNECTION_CHECK_MS}`).then(
        () => done(),
        // A server on a system that cannot detect closed connections rejects the setting.
        (error: Error) => done(error instanceof pg.DatabaseError ? undefined : error),
      );
    },
  });
  const logLostConnection = (error: Error) => log.warn({ err: error }, "a connection to the store was lost");
  // The pool reports only errors of idle connections. An unhandled error of a connection in use would end the process.
  pool.on("connect", (client) => client.on("error", logLostConnection));
  pool.on("error", () => {});
  const queue = createStatementQueue({
    running: CONNECTIONS_MAX,
    runningPerCaller: CONNECTIONS_PER_CALLER_MAX,
    waiting: WAITING_CALLERS_MAX,
  });
  const openSession = async (priority: StatementPriority): Promise<SqlSession> => {
    const startedAt = performance.now();
    const waitMsMax = priority === "request" ? REQUEST_CONNECT_MS_MAX : CONNECT_MS_MAX;
    const releaseSlot = await queue.acquire(waitMsMax);
    try {
      const client = await connectWithin(pool, waitMsMax - (performance.now() - startedAt));
      return wrapClient(client, priority, releaseSlot);
    } catch (error) {
      releaseSlot();
      throw toStoreError(error);
    }
  };
  try {
    await runStatement(
      pool,
      schema === undefined || isReadOnly ? "select 1" : `create schema if not exists ${schema}`,
      [],
    );
  } catch (error) {
    await pool.end();
    throw error;
  }
  return {
    async query<Row extends object>(
      text: string,
      parameters: readonly unknown[] = [],
      priority: StatementPriority = "background",
    ) {
      const session = await openSession(priority);
      try {
        return (await session.run(text, parameters)) as Row[];
      } finally {
        await session.release();
      }
    },
    transaction: (work, priority = "background") => runTransaction(() => openSession(priority), work),
    close: () => pool.end(),
  };
}
