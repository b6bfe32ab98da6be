import assert from "node:assert/strict";
import { test } from "node:test";
import { atEndOfLoopIteration, systemClock } from "./system-clock.ts";

test("end-of-iteration work runs before yielded tasks resume", async () => {
  const order: string[] = [];
  const tasks = Array.from({ length: 3 }, (_, index) =>
    systemClock.yieldToEventLoop().then(() => order.push(`task ${index}`)),
  );
  // All tasks yielded before the work was added, and the work still runs before the next task.
  await tasks[0];
  atEndOfLoopIteration(() => order.push("end of the first iteration"));
  await tasks[1];
  atEndOfLoopIteration(() => order.push("end of the second iteration"));
  await tasks[2];
  assert.deepEqual(order, ["task 0", "end of the first iteration", "task 1", "end of the second iteration", "task 2"]);
});

test("without yielded tasks, end-of-iteration work runs once and in order", async () => {
  const order: number[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  atEndOfLoopIteration(() => order.push(1));
  atEndOfLoopIteration(() => {
    order.push(2);
    resolve();
  });
  assert.deepEqual(order, []);
  await promise;
  await systemClock.yieldToEventLoop();
  assert.deepEqual(order, [1, 2]);
});

test("work added by end-of-iteration work runs in the next iteration", async () => {
  const order: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  atEndOfLoopIteration(() => {
    atEndOfLoopIteration(() => {
      order.push("next iteration");
      resolve();
    });
    order.push("this iteration");
  });
  atEndOfLoopIteration(() => order.push("this iteration too"));
  await promise;
  assert.deepEqual(order, ["this iteration", "this iteration too", "next iteration"]);
});
