import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "../../domain/errors.ts";
import { createStatementQueue } from "./statement-queue.ts";

const isUnavailable = (error: unknown) => error instanceof AppError && error.code === "store_unavailable";

test("grants the lock to one caller at a time, in the order of the requests", async () => {
  const queue = createStatementQueue({ queuedMax: 10, queuedMsMax: 1_000 });
  const order: number[] = [];
  const release = await queue.acquire();
  const queuedRequests = [1, 2, 3].map(async (number) => {
    const releaseQueued = await queue.acquire();
    order.push(number);
    releaseQueued();
    releaseQueued();
  });
  assert.deepEqual(order, []);
  release();
  await Promise.all(queuedRequests);
  assert.deepEqual(order, [1, 2, 3]);
});

test("a full queue rejects a request immediately and grants the lock to the queued requests", async () => {
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

test("rejects a request that is queued for too long, and grants the lock to the next request", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const queue = createStatementQueue({ queuedMax: 2, queuedMsMax: 1_000 });
  const release = await queue.acquire();
  const expiringRequest = queue.acquire();
  t.mock.timers.tick(1_001);
  await assert.rejects(expiringRequest, isUnavailable);
  release();
  (await queue.acquire())();
});
