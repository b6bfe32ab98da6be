import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { startTcpProxy, type TcpProxy } from "../../../test/support/tcp-proxy.ts";
import { AppError } from "../../domain/errors.ts";
import type { Database } from "../../ports/database.ts";
import { openPostgresDatabase } from "./postgres-database.ts";

const DATABASE_URL = process.env.TEST_DATABASE_URL ?? "";
const SKIP = { skip: DATABASE_URL === "" ? "TEST_DATABASE_URL is not set" : false };

let proxy: TcpProxy;
let database: Database;

before(async () => {
  if (DATABASE_URL === "") return;
  proxy = await startTcpProxy(DATABASE_URL);
  database = await openPostgresDatabase({ url: proxy.url, log: quietLog });
});
after(async () => {
  if (DATABASE_URL === "") return;
  // Connections to a server that does not answer would keep the pool open.
  proxy.refuse();
  await database.close();
  await proxy.close();
});

const messageOf = (error: unknown) => (error instanceof AppError ? `${error.code}: ${error.message}` : String(error));

test(
  "if the server does not answer, a transaction of a request ends earlier than one of background work",
  SKIP,
  async () => {
    await database.transaction((transaction) => transaction.query("select 1"), "request");
    proxy.blackhole();
    const run = (priority: "request" | "background") =>
      database
        .transaction((transaction) => transaction.query("select 1"), priority)
        .then(String, (error: unknown) => `${priority} ${messageOf(error)}`);
    const first = await Promise.race([run("background"), run("request")]);
    assert.match(first, /^request store_unavailable: The store cannot be reached/);
    proxy.restore();
  },
);

test(
  "a request waits for less time than background work for a connection to an unresponsive server",
  SKIP,
  async () => {
    const unused = await openPostgresDatabase({ url: proxy.url, log: quietLog });
    proxy.refuse();
    // Its only connection is lost, so that a statement must establish one.
    await assert.rejects(unused.query("select 1"));
    proxy.blackhole();
    const run = (priority: "request" | "background") =>
      unused.query("select 1", [], priority).then(String, (error: unknown) => `${priority} ${messageOf(error)}`);
    const background = run("background");
    assert.match(await Promise.race([background, run("request")]), /^request store_unavailable/);
    assert.match(await background, /^background store_unavailable/);
    proxy.refuse();
    await unused.close();
    proxy.restore();
  },
);

test("only transactions of requests have the short statement and lock timeouts", SKIP, async () => {
  const TIMEOUTS = "select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock";
  const timeoutsIn = (priority: "request" | "background") =>
    database.transaction((transaction) => transaction.query(TIMEOUTS), priority);
  assert.deepEqual(await timeoutsIn("request"), [{ statement: "2500ms", lock: "2s" }]);
  assert.deepEqual(await timeoutsIn("background"), [{ statement: "30s", lock: "10s" }]);
  assert.deepEqual(await database.query(TIMEOUTS), [{ statement: "30s", lock: "10s" }]);
});

test("the server ends a statement whose connection is closed", SKIP, async () => {
  const server = await openPostgresDatabase({ url: DATABASE_URL, log: quietLog });
  const waitUntilRunning = async (count: number) => {
    const running = () =>
      server.query("select from pg_stat_activity where query like '%frozen_store_sleep%' and pid <> pg_backend_pid()");
    while ((await running()).length !== count) await server.query("select pg_sleep(0.05)");
  };
  const statement = database.query("select pg_sleep(60) as frozen_store_sleep");
  await Promise.all([
    assert.rejects(statement),
    waitUntilRunning(1).then(() => {
      proxy.refuse();
      return waitUntilRunning(0);
    }),
  ]);
  proxy.restore();
  await server.close();
});

test("a temporary error of a statement does not close its connection", SKIP, async () => {
  const backendOf = async () => {
    const pids: number[] = [];
    const failing = database.transaction(async (transaction) => {
      const [row] = await transaction.query<{ pid: number }>("select pg_backend_pid() as pid");
      pids.push(row?.pid ?? 0);
      await transaction.query("set transaction read only");
      await transaction.query("create table frozen_store_test (n int)");
    }, "request");
    assert.match(await failing.then(String, messageOf), /^store_unavailable/);
    return pids[0];
  };
  assert.equal(await backendOf(), await backendOf());
});

test("if the server does not confirm a commit, the error says that the outcome is unknown", SKIP, async () => {
  const committing = database.transaction(async (transaction) => {
    await transaction.query("select 1");
    proxy.blackhole();
  }, "request");
  assert.match(
    await committing.then(String, messageOf),
    /^store_unavailable: .*may or may not be stored.*Idempotency-Key/,
  );
  proxy.restore();
});
