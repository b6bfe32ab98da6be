import assert from "node:assert/strict";
import { after, test } from "node:test";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import type { SampleTask } from "../../../test/support/threads/worker-tasks.ts";
import { AppError } from "../../domain/errors.ts";
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

const hasCode = (code: string) => (error: unknown) => error instanceof AppError && error.code === code;

test("tasks run one after the other, and each caller gets the result of its task", async () => {
  const { sum } = openPool();
  assert.deepEqual(await Promise.all([sum(1, 2), sum(3), sum(4, 5, 6)]), [3, 3, 15]);
});

test("transferred buffers are moved to the thread", async () => {
  const { pool } = openPool();
  const values = Float64Array.from([1, 2]);
  const result = pool.run({ kind: "sum", values }, [values.buffer]);
  assert.equal(values.length, 0);
  assert.equal(await result, 3);
});

test("`overloaded`: a task is rejected if eight others are waiting", async () => {
  const { sum } = openPool();
  const accepted = Array.from({ length: 9 }, (_, index) => sum(index));
  await assert.rejects(sum(9), hasCode("overloaded"));
  assert.deepEqual(await Promise.all(accepted), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  assert.equal(await sum(9), 9);
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

test("closing the pool fails its tasks and later ones", async () => {
  const { pool, sum } = openPool();
  const tasks = [pool.run({ kind: "loop" }, []), sum(1)].map((task) => assert.rejects(task, hasCode("draining")));
  await pool.close();
  await Promise.all(tasks);
  await assert.rejects(sum(2), hasCode("draining"));
});
