import assert from "node:assert/strict";
import { after, test } from "node:test";
import { hasErrorCode } from "../../../test/support/asserts/error-code.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import type { SampleTask } from "../../../test/support/threads/worker-tasks.ts";
import { runForCaller } from "../../lib/current-caller.ts";
import { openWorkerPool } from "./worker-pool.ts";

const MODULE = new URL("../../../test/support/threads/worker-tasks.ts", import.meta.url);
const pools: { close(): Promise<void> }[] = [];
after(() => Promise.all(pools.map((pool) => pool.close())));

function openPool() {
  const clock = new FakeClock();
  const pool = openWorkerPool<SampleTask, number>(MODULE, clock);
  pools.push(pool);
  const sum = (...numbers: readonly number[]) => pool.run({ kind: "sum", values: Float64Array.from(numbers) }, []);
  return { pool, clock, sum };
}

test("tasks run one after the other, and each caller gets the result of its task", async () => {
  const { sum } = openPool();
  assert.deepEqual(await Promise.all([sum(1, 2), sum(3), sum(4, 5, 6)]), [3, 3, 15]);
});

test("transferred buffers are moved to the thread", async () => {
  const { pool } = openPool();
  const values = Float64Array.from([1, 2]);
  const result = pool.run({ kind: "sum", values }, [values.buffer]);
  assert.equal(await result, 3);
  assert.equal(values.length, 0);
});

test("`overloaded`: a task is rejected if eight tasks are waiting, or four tasks of the same caller", async () => {
  const { sum } = openPool();
  const running = sum(0);
  const sumFor = (caller: string, value: number) => runForCaller(caller, () => sum(value));
  const accepted = [1, 2, 3, 4].map((value) => sumFor("first", value));
  await assert.rejects(sumFor("first", 5), hasErrorCode("overloaded"));
  accepted.push(...[5, 6, 7, 8].map((value) => sumFor("second", value)));
  await assert.rejects(sumFor("third", 9), hasErrorCode("overloaded"));
  assert.deepEqual(await Promise.all([running, ...accepted]), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  assert.equal(await sum(9), 9);
});

test("callers whose tasks wait take turns", async () => {
  const { sum } = openPool();
  const ended: string[] = [];
  const run = (caller: string) => runForCaller(caller, () => sum(1).then(() => ended.push(caller)));
  await Promise.all([sum(0), run("many"), run("many"), run("many"), run("one")]);
  assert.deepEqual(ended, ["many", "one", "many", "many"]);
});

test("a task that cannot be copied to the thread fails, and the thread takes the next one", async () => {
  const { pool, sum } = openPool();
  const threadOf = () => pool.run({ kind: "thread" }, []);
  const first = await threadOf();
  const uncopyable = { kind: "sum", values: () => {} } as unknown as SampleTask;
  await assert.rejects(pool.run(uncopyable, []), { name: "DataCloneError" });
  assert.equal(await sum(2, 3), 5);
  assert.equal(await threadOf(), first);
});

test("a task that throws or ends its thread fails alone, and the next one runs on a new thread", async () => {
  const { pool, sum } = openPool();
  for (const kind of ["throw", "exit"] as const) {
    const failed = pool.run({ kind }, []);
    const next = sum(7);
    await assert.rejects(failed, /the task failed|code 3/);
    assert.equal(await next, 7);
  }
});

test("a task that takes longer than 30 seconds is ended", async () => {
  const { pool, clock, sum } = openPool();
  const endless = assert.rejects(pool.run({ kind: "loop" }, []), /longer than 30000 ms/);
  const next = sum(1);
  await clock.advance(30_000);
  await endless;
  assert.equal(await next, 1);
});

test("an idle thread ends after a minute, and a later task starts another", async () => {
  const { pool, clock } = openPool();
  const threadOf = () => pool.run({ kind: "thread" }, []);
  const first = await threadOf();
  await clock.advance(59_999);
  assert.equal(await threadOf(), first);
  await clock.advance(60_000);
  assert.notEqual(await threadOf(), first);
});

test("closing the pool rejects running, waiting and later tasks", async () => {
  const { pool, sum } = openPool();
  const tasks = [pool.run({ kind: "loop" }, []), sum(1)].map((task) => assert.rejects(task, hasErrorCode("draining")));
  await pool.close();
  await Promise.all(tasks);
  await assert.rejects(sum(2), hasErrorCode("draining"));
});
