import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { FakeEngineThread, MEMORY_FAILURE } from "../../../test/support/fake-engine.ts";
import { atProcessEnd } from "../../../test/support/file-end.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { createTestFolder } from "../../../test/support/test-folder.ts";
import { runForCaller } from "../../lib/current-caller.ts";
import type { Database, Transaction } from "../../ports/database.ts";
import { type EmbeddedDatabase, openEmbeddedDatabase, openSharedDatabase } from "./embedded-database.ts";

/** Opens the store as a second thread would. `end` is what happens when that thread ends. */
function openSecondThread(t: TestContext, store: EmbeddedDatabase) {
  const { port1, port2 } = new MessageChannel();
  store.share(port1);
  const database = openSharedDatabase(port2, { dataDir: null, reserveBytes: 0, log: quietLog });
  t.after(() => database.close());
  return { database, end: () => database.close() };
}

/** One store for all tests of this file, because opening it takes seconds. */
const opening = openEmbeddedDatabase({ dataDir: null, log: quietLog });
atProcessEnd(async () => (await opening).close());

/** Returns the store with an empty table `rows`. */
async function openTestStore() {
  const store = await opening;
  await store.query("drop table if exists rows");
  await store.query("create table rows (number int primary key)");
  return store;
}

const numbersIn = async (database: Database) =>
  (await database.query<{ number: number }>("select number from rows order by number")).map(({ number }) => number);
const insert = (database: Transaction, number: number) => database.query("insert into rows values ($1)", [number]);

test("statements, parameters and errors of a second thread are those of the first", async (t) => {
  const store = await openTestStore();
  const { database } = openSecondThread(t, store);
  const parameters = [[1, null, 3], ["a", "b", null], new Date("2026-11-21T00:00:00Z")];
  const select =
    "select $1::int[] as ints, $2::text[] as texts, $3::timestamptz as time, 9007199254740991::int8 as big";
  assert.deepEqual(await database.query(select, parameters), await store.query(select, parameters));
  await insert(database, 1);
  for (const either of [database, store])
    await assert.rejects(insert(either, 1), { code: "23505", constraint: "rows_pkey" });
  await assert.rejects(
    database.transaction(async (transaction) => {
      await insert(transaction, 2);
      await insert(transaction, 1);
    }),
    { code: "23505" },
  );
  assert.deepEqual(await numbersIn(store), [1]);
});

test("a transaction of one thread excludes the statements of the other until it ends", async (t) => {
  const store = await openTestStore();
  const { database } = openSecondThread(t, store);
  for (const [first, second] of [
    [store, database],
    [database, store],
  ] as const) {
    await store.query("truncate rows");
    const inserted = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    const transaction = first.transaction(async (open) => {
      await insert(open, 1);
      inserted.resolve();
      await mayCommit.promise;
      await insert(open, 2);
    });
    await inserted.promise;
    const read = numbersIn(second);
    mayCommit.resolve();
    assert.deepEqual(await read, [1, 2]);
    await transaction;
  }
});

test("the transaction of a thread that ends is rolled back, and the store serves the other thread", async (t) => {
  const store = await openTestStore();
  const { database, end } = openSecondThread(t, store);
  const ended = Promise.withResolvers<void>();
  void database.transaction(async (open) => {
    await insert(open, 1);
    // Sent, but without a reply when the thread ends.
    void insert(open, 2).catch(() => {});
    await end();
    ended.resolve();
    await new Promise(() => {});
  });
  await ended.promise;
  assert.deepEqual(await numbersIn(store), []);
  await store.transaction((open) => insert(open, 3));
  assert.deepEqual(await numbersIn(store), [3]);
  assert.deepEqual(await numbersIn(openSecondThread(t, store).database), [3]);
});

test("a request for a slot that is granted after the thread has ended does not block the store", async (t) => {
  const store = await openTestStore();
  const { database, end } = openSecondThread(t, store);
  const asked = Promise.withResolvers<void>();
  await store.transaction(async (open) => {
    await insert(open, 1);
    void insert(database, 2).catch(() => {});
    await new Promise((resolve) => setImmediate(resolve));
    await end();
    asked.resolve();
  });
  await asked.promise;
  assert.deepEqual(await numbersIn(store), [1]);
});

test("the limit of waiting statements per caller counts the statements of both threads", async (t) => {
  const store = await openTestStore();
  const { database } = openSecondThread(t, store);
  const mayEnd = Promise.withResolvers<void>();
  const blocking = store.transaction(() => mayEnd.promise);
  const wait = (at: Database) =>
    runForCaller("c", () => at.query("select 1")).then(
      () => null,
      ({ message }) => message,
    );
  const own = Array.from({ length: 200 }, () => wait(store));
  const other = Array.from({ length: 200 }, () => wait(database));
  await Promise.race(other);
  mayEnd.resolve();
  const outcomes = await Promise.all([...own, ...other]);
  assert.equal(outcomes.filter((message) => message !== null).length, 400 - 256);
  assert.deepEqual([...new Set(outcomes)], [null, "The store is busy: too many statements are queued."]);
  await blocking;
});

test("after an engine has failed in a statement of the second thread, both threads use its successor", async (t) => {
  const broken = new FakeEngineThread();
  broken.failures.set("select broken", MEMORY_FAILURE);
  const threads = [broken, new FakeEngineThread()];
  const started: FakeEngineThread[] = [];
  const store = await openEmbeddedDatabase({
    dataDir: await createTestFolder(),
    log: quietLog,
    reserveBytes: 0,
    environment: {
      monotonic: () => 1_000_000 * started.length,
      canOpenFiles: () => true,
      spawn() {
        const thread = threads[started.length] ?? new FakeEngineThread();
        started.push(thread);
        return thread.start();
      },
    },
  });
  t.after(() => store.close());
  const { database } = openSecondThread(t, store);
  await assert.rejects(database.query("select broken"), { code: "store_unavailable" });
  assert.deepEqual(await database.query("select 1"), []);
  assert.deepEqual(await store.query("select 2"), []);
  assert.deepEqual(
    started.map(({ statements }) => statements),
    [["select broken"], ["select 1", "select 2"]],
  );
});
