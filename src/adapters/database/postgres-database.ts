import pg from "pg";
import type { Database, StatementPriority } from "../../ports/database.ts";
import type { Log } from "../../ports/log.ts";
import { encodeArrayParameters } from "./array-parameters.ts";
import { storeUnavailable, toStoreError } from "./errors.ts";
import { runTransaction, type SqlSession } from "./session.ts";

const CONNECTIONS_MAX = 10;
/** Callers that may wait for a connection; beyond it the store says it is unavailable. */
const POSTGRES_WAITING_MAX = 1_024;
const CONNECT_MS_MAX = 5_000;
const STATEMENT_MS_MAX = 30_000;
const LOCK_MS_MAX = 10_000;
const IDLE_IN_TRANSACTION_MS_MAX = 60_000;
/** A server that is frozen never says that the statement timed out; the client then gives up by itself. */
const ANSWER_MS_MAX = STATEMENT_MS_MAX + 5_000;
/** The same for reads that a caller waits for, of which the slowest takes some tens of milliseconds. */
const READ_ANSWER_MS_MAX = 3_000;
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;

const INT8_ARRAY_OID = 1016;
/** `{1,NULL,3}`: numbers need no quoting, so the text can be cut at its commas. */
function parseInt8Array(text: string): (number | null)[] {
  if (text === "{}") return [];
  return text
    .slice(1, -1)
    .split(",")
    .map((item) => (item === "NULL" ? null : Number(item)));
}

/** int8 as a number: every one of ours is a count or milliseconds, far below 2^53. Everything else as pg does it. */
const typeParsers: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: "text" | "binary") {
    if (oid === pg.types.builtins.INT8 && format !== "binary") return Number;
    if (oid === INT8_ARRAY_OID && format !== "binary") return parseInt8Array;
    return format === "binary" ? pg.types.getTypeParser(oid, "binary") : pg.types.getTypeParser(oid, "text");
  },
};

async function run(
  client: pg.PoolClient | pg.Pool,
  text: string,
  parameters: readonly unknown[],
  answerMsMax = ANSWER_MS_MAX,
): Promise<Record<string, unknown>[]> {
  try {
    const values = encodeArrayParameters(parameters);
    // The driver knows the deadline of a single query; its types do not.
    const query: pg.QueryConfig & { readonly query_timeout: number } = { text, values, query_timeout: answerMsMax };
    const { rows } = await client.query<Record<string, unknown>>(query);
    return rows ?? [];
  } catch (error) {
    throw toStoreError(error);
  }
}

function wrapClient(client: pg.PoolClient): SqlSession {
  let isInTransaction = false;
  let isBroken = false;
  return {
    run: (text, parameters) => run(client, text, parameters),
    async begin() {
      await run(client, "start transaction", []);
      isInTransaction = true;
    },
    async end(statement) {
      try {
        await run(client, statement, []);
        isInTransaction = false;
      } catch (error) {
        isBroken = true;
        throw error;
      }
    },
    async release() {
      // A connection that may still be inside a transaction must not serve the next caller.
      client.release(isInTransaction || isBroken);
    },
  };
}

/**
 * The store on a PostgreSQL server (15 or newer), through a bounded pool. Every wait has an end: connecting, locks,
 * statements, answers. Lost connections never end the process; what was in flight fails with `store_unavailable`.
 *
 * @param options.schema  keeps all tables in this schema, made when missing; tests use it to stay apart
 */
export async function openPostgresDatabase(options: {
  readonly url: string;
  readonly schema?: string;
  readonly log: Log;
}): Promise<Database> {
  const { url, schema, log } = options;
  if (schema !== undefined && !SCHEMA_NAME.test(schema)) throw new RangeError(`not a schema name: ${schema}`);
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS_MAX,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    statement_timeout: STATEMENT_MS_MAX,
    lock_timeout: LOCK_MS_MAX,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS_MAX,
    query_timeout: ANSWER_MS_MAX,
    keepAlive: true,
    application_name: "parallax",
    options: `-c timezone=UTC${schema === undefined ? "" : ` -c search_path=${schema}`}`,
    types: typeParsers,
  });
  const noteLoss = (error: Error) => log.warn({ err: error }, "a connection to the store was lost");
  // The pool tells of idle connections only. One in use tells by itself, and an error event nobody hears ends the process.
  pool.on("connect", (client) => client.on("error", noteLoss));
  pool.on("error", () => {});
  const assertRoom = () => {
    if (pool.waitingCount >= POSTGRES_WAITING_MAX) throw storeUnavailable("The store is busy: too many wait for it.");
  };
  const openSession = async (): Promise<SqlSession> => {
    assertRoom();
    try {
      return wrapClient(await pool.connect());
    } catch (error) {
      throw toStoreError(error);
    }
  };
  try {
    await run(pool, schema === undefined ? "select 1" : `create schema if not exists ${schema}`, []);
  } catch (error) {
    await pool.end();
    throw error;
  }
  return {
    async query<Row extends Record<string, unknown>>(
      text: string,
      parameters: readonly unknown[] = [],
      patience: StatementPriority = "background",
    ) {
      assertRoom();
      const msMax = patience === "request" ? READ_ANSWER_MS_MAX : ANSWER_MS_MAX;
      return (await run(pool, text, parameters, msMax)) as Row[];
    },
    transaction: (work) => runTransaction(openSession, work),
    close: () => pool.end(),
  };
}
