import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "../../domain/errors.ts";
import { createStatementQueue } from "./statement-queue.ts";

const isUnavailable = (error: unknown) => error instanceof AppError && error.code === "store_unavailable";

test("turns are given one at a time, in the order of asking", async () => {
  const turns = createStatementQueue({ waitingMax: 10, waitMsMax: 1_000 });
  const order: number[] = [];
  const end = await turns.take();
  const others = [1, 2, 3].map(async (number) => {
    const endMine = await turns.take();
    order.push(number);
    endMine();
    endMine();
  });
  assert.deepEqual(order, []);
  end();
  await Promise.all(others);
  assert.deepEqual(order, [1, 2, 3]);
});

test("one waiter over the bound is refused at once, and those within it are served", async () => {
  const turns = createStatementQueue({ waitingMax: 2, waitMsMax: 1_000 });
  const end = await turns.take();
  const first = turns.take();
  const second = turns.take();
  await assert.rejects(turns.take(), isUnavailable);
  end();
  (await first)();
  (await second)();
  assert.equal(turns.waiting, 0);
});

test("a turn that does not come in time is an error, and the next one still comes", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const turns = createStatementQueue({ waitingMax: 2, waitMsMax: 1_000 });
  const end = await turns.take();
  const late = turns.take();
  t.mock.timers.tick(1_001);
  await assert.rejects(late, isUnavailable);
  end();
  (await turns.take())();
});
