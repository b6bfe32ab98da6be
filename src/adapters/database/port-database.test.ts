import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as nextIteration } from "node:timers/promises";
import { MessageChannel } from "node:worker_threads";
import { atProcessEnd } from "../../../test/support/file-end.ts";
import { quietLog } from "../../../test/support/quiet-log.ts";
import { AppError } from "../../domain/errors.ts";
import { currentCaller, runForCaller } from "../../lib/current-caller.ts";
import type { Database, StatementPriority, Transaction } from "../../ports/database.ts";
import { openEmbeddedDatabase } from "./embedded-database.ts";
import { isAnswer, storeUnavailable } from "./errors.ts";
import { openPortDatabase, serveDatabase } from "./port-database.ts";

/** Opens the database as another thread would. `close` simulates the end of that thread. */
function openSecondThread(t: TestContext, database: Database): Database {
  const { port1, port2 } = new MessageChannel();
  serveDatabase(port1, database);
  const other = openPortDatabase(port2);
  t.after(() => other.close());
  return other;
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
  const other = openSecondThread(t, store);
  const parameters = [[1, null, 3], ["a", "b", null], new Date("2026-11-21T00:00:00Z")];
  const select =
    "select $1::int[] as ints, $2::text[] as texts, $3::timestamptz as time, 9007199254740991::int8 as big";
  assert.deepEqual(await other.query(select, parameters), await store.query(select, parameters));
  await insert(other, 1);
  for (const either of [other, store])
    await assert.rejects(insert(either, 1), { code: "23505", constraint: "rows_pkey" });
});

test("a transaction of a second thread commits all its statements or none, and returns its result", async (t) => {
  const store = await openTestStore();
  const other = openSecondThread(t, store);
  const result = await other.transaction(async (transaction) => {
    await Promise.all([insert(transaction, 1), insert(transaction, 2)]);
    return transaction.query("select number from rows order by number");
  });
  assert.deepEqual(result, [{ number: 1 }, { number: 2 }]);
  const fail = (work: (transaction: Transaction) => Promise<unknown>) =>
    other.transaction(async (transaction) => {
      await insert(transaction, 3);
      await work(transaction);
    });
  await assert.rejects(
    fail((transaction) => insert(transaction, 1)),
    { code: "23505" },
  );
  await assert.rejects(
    fail(() => Promise.reject(new RangeError("mine"))),
    RangeError,
  );
  // A failed statement whose error is ignored must not be committed.
  await assert.rejects(
    fail((transaction) => insert(transaction, 1).catch(() => {})),
    /cannot be committed/,
  );
  assert.deepEqual(await numbersIn(store), [1, 2]);
});

test("a transaction of one thread excludes the statements of the other until it ends", async (t) => {
  const store = await openTestStore();
  const other = openSecondThread(t, store);
  for (const [first, second] of [
    [store, other],
    [other, store],
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

for (const [moment, wait] of [
  ["before its statement is sent", async () => {}],
  ["during a statement", nextIteration],
] as const) {
  test(`the transaction of a thread that ends ${moment} is rolled back, and the store serves other threads`, async (t) => {
    const store = await openTestStore();
    const other = openSecondThread(t, store);
    const ended = Promise.withResolvers<void>();
    void other.transaction(async (open) => {
      await insert(open, 1);
      void insert(open, 2);
      await wait();
      await other.close();
      ended.resolve();
      await new Promise(() => {});
    });
    await ended.promise;
    assert.deepEqual(await numbersIn(store), []);
    await store.transaction((open) => insert(open, 3));
    assert.deepEqual(await numbersIn(openSecondThread(t, store)), [3]);
  });
}

test("a transaction of a second thread includes statements for which its callback does not wait", async (t) => {
  const store = await openTestStore();
  const other = openSecondThread(t, store);
  await other.transaction(async (open) => {
    void insert(open, 1);
    void insert(open, 2);
  });
  assert.deepEqual(await numbersIn(store), [1, 2]);
  const failing = other.transaction(async (open) => {
    void insert(open, 3);
    throw new RangeError("mine");
  });
  await assert.rejects(failing, RangeError);
  assert.deepEqual(await numbersIn(store), [1, 2]);
});

test("statements keep their caller and their priority, and an unavailable store keeps the cause of its error", async (t) => {
  const calls: [string | null, StatementPriority | undefined][] = [];
  const cause = Object.assign(new Error("disk full"), { code: "53100" });
  const failing: Database = {
    query(_text, _parameters, priority) {
      calls.push([currentCaller(), priority]);
      return Promise.reject(storeUnavailable("The store is full.", cause));
    },
    transaction(_run, priority) {
      calls.push([currentCaller(), priority]);
      return Promise.reject(storeUnavailable("The store is full."));
    },
    close: async () => {},
  };
  const other = openSecondThread(t, failing);
  await runForCaller("customer", () =>
    assert.rejects(other.query("select 1", [], "request"), (error) => {
      assert.ok(error instanceof AppError);
      assert.deepEqual([error.code, error.message, isAnswer(error)], ["store_unavailable", "The store is full.", true]);
      return true;
    }),
  );
  await assert.rejects(
    other.transaction(async () => {}),
    { code: "store_unavailable" },
  );
  assert.deepEqual(calls, [
    ["customer", "request"],
    [null, undefined],
  ]);
});
