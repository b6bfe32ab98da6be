import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { FakeEngineThread, FILE_FAILURE, MEMORY_FAILURE } from "../../../test/support/fake-engine.ts";
import { recordingLog } from "../../../test/support/test-app.ts";
import { createTestFolder } from "../../../test/support/test-folder.ts";
import { openEmbeddedDatabase } from "./embedded-database.ts";

const READ = "select 1";
const WRITE = "insert into t values (1)";
const UNAVAILABLE = { code: "store_unavailable" };
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Opens a store whose engines are scripted: `threads` in order of their start, then threads that work. */
async function openTestStore(t: TestContext, threads: readonly FakeEngineThread[] = []) {
  const dataDir = await createTestFolder();
  const state = { now: 0, freeDescriptors: Number.POSITIVE_INFINITY };
  const started: FakeEngineThread[] = [];
  const { log, lines } = recordingLog();
  const database = await openEmbeddedDatabase({
    dataDir,
    log,
    reserveBytes: 0,
    environment: {
      monotonic: () => state.now,
      canOpenFiles: (count) => state.freeDescriptors >= count,
      spawn() {
        const thread = threads[started.length] ?? new FakeEngineThread();
        started.push(thread);
        return thread.start();
      },
    },
  });
  t.after(() => database.close());
  return { database, state, started, lines };
}

/** Creates a thread on which `statement` fails. */
function createFailingThread(
  statement: string,
  failure: typeof FILE_FAILURE | null,
  options?: ConstructorParameters<typeof FakeEngineThread>[0],
): FakeEngineThread {
  const thread = new FakeEngineThread(options);
  thread.failures.set(statement, failure);
  return thread;
}

test("an engine with damaged memory receives no statement, and its successor starts after its thread has ended", async (t) => {
  const broken = createFailingThread(WRITE, MEMORY_FAILURE, { isSlowToExit: true });
  const { database, started } = await openTestStore(t, [broken]);
  await assert.rejects(database.query(WRITE), UNAVAILABLE);
  assert.equal(broken.isTerminated, true);
  const read = database.query(READ);
  await nextTurn();
  assert.equal(started.length, 1);
  broken.exit();
  assert.deepEqual(await read, []);
  assert.deepEqual([broken.statements, started[1]?.statements], [[WRITE], [READ]]);
});

test("an engine that cannot create files accepts reads but no writes until descriptors are free and it is restarted", async (t) => {
  const damaged = createFailingThread(WRITE, FILE_FAILURE);
  const { database, state, started, lines } = await openTestStore(t, [damaged]);
  state.freeDescriptors = 7;
  await assert.rejects(database.query(WRITE), UNAVAILABLE);
  await assert.rejects(database.query("update t set a = 1"), UNAVAILABLE);
  await assert.rejects(
    database.transaction(({ query }) => query("delete from t")),
    UNAVAILABLE,
  );
  assert.deepEqual(await database.query(READ), []);
  assert.deepEqual(damaged.statements, [WRITE, "start transaction", "rollback", READ]);
  assert.equal(damaged.isTerminated, false);
  state.freeDescriptors = 8;
  assert.deepEqual(await database.query(WRITE), []);
  assert.equal(damaged.isTerminated, true);
  assert.deepEqual(started[1]?.statements, [WRITE]);
  assert.deepEqual(
    lines.map(({ message }) => message),
    [
      "the embedded store cannot create files: it refuses writes until it is restarted",
      "restarting the embedded store",
    ],
  );
});

test("an engine that cannot create files is restarted after a minute even if no descriptors are free", async (t) => {
  const { database, state, started } = await openTestStore(t, [createFailingThread(WRITE, FILE_FAILURE)]);
  state.freeDescriptors = 0;
  await assert.rejects(database.query(WRITE), UNAVAILABLE);
  await database.query(READ);
  state.now += 59_999;
  await assert.rejects(database.query(WRITE), UNAVAILABLE);
  state.now += 1;
  assert.deepEqual(await database.query(WRITE), []);
  assert.equal(started.length, 2);
});

test("an engine whose checkpoint cannot create a file refuses writes until it is restarted", async (t) => {
  const damaged = new FakeEngineThread();
  const { database, state, started } = await openTestStore(t, [damaged]);
  state.freeDescriptors = 0;
  damaged.reply({ kind: "checkpoint_failed", failure: FILE_FAILURE });
  await nextTurn();
  await assert.rejects(database.query(WRITE), UNAVAILABLE);
  state.freeDescriptors = 8;
  await database.query(WRITE);
  assert.deepEqual([damaged.statements, started.length], [[], 2]);
});

test("an engine is not replaced during a transaction", async (t) => {
  const damaged = createFailingThread(WRITE, FILE_FAILURE);
  const { database, started } = await openTestStore(t, [damaged]);
  const transaction = database.transaction(async ({ query }) => {
    await query(WRITE).catch(() => {});
    await query(READ);
  });
  await assert.rejects(transaction, /cannot be committed/);
  assert.deepEqual(damaged.statements, ["start transaction", WRITE, READ, "rollback"]);
  await database.query(WRITE);
  assert.equal(started.length, 2);
});

test("a commit without a response fails with `store_unavailable`", async (t) => {
  const thread = createFailingThread("commit", null);
  const { database } = await openTestStore(t, [thread]);
  const { promise: isCommitSent, resolve } = Promise.withResolvers<void>();
  const transaction = database.transaction(async ({ query }) => {
    await query(WRITE);
    setImmediate(resolve);
  });
  await isCommitSent;
  assert.equal(thread.statements.at(-1), "commit");
  thread.exit();
  await assert.rejects(transaction, UNAVAILABLE);
});

test("a transaction whose engine ended is not continued or committed on the next engine", async (t) => {
  const { database, started } = await openTestStore(t);
  const interrupted = database.transaction(async ({ query }) => {
    started[0]?.exit();
    await query(WRITE);
  });
  await assert.rejects(interrupted, UNAVAILABLE);
  const uncommitted = database.transaction(async ({ query }) => {
    await query(WRITE);
    started[1]?.exit();
  });
  await assert.rejects(uncommitted, UNAVAILABLE);
  assert.deepEqual(
    started.map(({ statements }) => statements),
    [["start transaction"], ["start transaction", WRITE]],
  );
});

test("the pause between starts of a failing engine doubles from 1 s to 30 s, and statements during a pause fail at once", async (t) => {
  const createBroken = () => createFailingThread(READ, MEMORY_FAILURE);
  const { database, state, started } = await openTestStore(
    t,
    Array.from({ length: 9 }, () => createBroken()),
  );
  await assert.rejects(database.query(READ), UNAVAILABLE);
  const pausesMs: number[] = [];
  let startedAt = 0;
  while (started.length < 9) {
    const startedCount = started.length;
    await assert.rejects(database.query(READ), UNAVAILABLE);
    if (started.length > startedCount) {
      pausesMs.push(state.now - startedAt);
      startedAt = state.now;
    } else state.now += 500;
  }
  assert.deepEqual(pausesMs, [0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  state.now += 30_000;
  assert.deepEqual(await database.query(READ), []);
  // The last engine worked for a minute, so its failure is the first of a new series.
  state.now += 60_000;
  started[9]?.exit();
  assert.deepEqual(await database.query(READ), []);
  started[10]?.exit();
  await assert.rejects(database.query(READ), UNAVAILABLE);
  state.now += 1_000;
  assert.deepEqual(await database.query(READ), []);
});

test("an engine that does not open within two minutes is terminated, and a later statement starts another one", async (t) => {
  const stuck = new FakeEngineThread({ opens: false });
  const first = new FakeEngineThread();
  const { database, state, started } = await openTestStore(t, [first, stuck]);
  first.exit();
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const read = database.query(READ);
  const queuedRead = database.query(READ);
  const outcomes = Promise.allSettled([read, queuedRead]);
  await nextTurn();
  // The queue rejects a statement after 30 s.
  t.mock.timers.tick(30_000);
  await assert.rejects(queuedRead, UNAVAILABLE);
  t.mock.timers.tick(90_000);
  await assert.rejects(read, UNAVAILABLE);
  await outcomes;
  assert.equal(stuck.isTerminated, true);
  state.now += 1_000;
  assert.deepEqual(await database.query(READ), []);
  assert.equal(started.length, 3);
});

test("a statement without a response for two minutes fails, and the next statement uses another engine", async (t) => {
  const stuck = createFailingThread(READ, null);
  const { database, started, lines } = await openTestStore(t, [stuck]);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const read = database.query(READ);
  const outcome = assert.rejects(read, UNAVAILABLE);
  await nextTurn();
  t.mock.timers.tick(120_000);
  await outcome;
  assert.match(String(lines[0]?.err), /The statement "select 1" took longer than 120000 ms/);
  assert.deepEqual(await database.query(READ), []);
  assert.equal(started.length, 2);
});
