import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "../../domain/errors.ts";
import { createStatementQueue } from "./statement-queue.ts";

const isUnavailable = (error: unknown) => error instanceof AppError && error.code === "store_unavailable";

test("grants the lock to one caller at a time, in the order of the requests", async () => {
  const queue = createStatementQueue({ queuedMax: 10, queuedMsMax: 1_000 });
  const order: number[] = [];
  const release = await queue.acquire();
  const others = [1, 2, 3].map(async (number) => {
    const releaseMine = await queue.acquire();
    order.push(number);
    releaseMine();
    releaseMine();
  });
  assert.deepEqual(order, []);
  release();
  await Promise.all(others);
  assert.deepEqual(order, [1, 2, 3]);
});

test("rejects a request to a full queue immediately and serves the queued ones", async () => {
  const queue = createStatementQueue({ queuedMax: 2, queuedMsMax: 1_000 });
  const release = await queue.acquire();
  const first = queue.acquire();
  const second = queue.acquire();
  await assert.rejects(queue.acquire(), isUnavailable);
  release();
  (await first)();
  (await second)();
  assert.equal(queue.queued, 0);
});

test("rejects a request that is queued for too long, and serves the next one", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const queue = createStatementQueue({ queuedMax: 2, queuedMsMax: 1_000 });
  const release = await queue.acquire();
  const late = queue.acquire();
  t.mock.timers.tick(1_001);
  await assert.rejects(late, isUnavailable);
  release();
  (await queue.acquire())();
});
