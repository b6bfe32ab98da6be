import assert from "node:assert/strict";
import { test } from "node:test";
import { isStoreUnavailable } from "../../../test/support/asserts/error-code.ts";
import { runForCaller } from "../../lib/current-caller.ts";
import { createStatementQueue, type StatementQueue } from "./statement-queue.ts";

const WAIT_MS_MAX = 1_000;

/**
 * Acquires a slot for each caller, in order. Returns the callers in the order in which they get a slot, which they
 * release.
 */
function acquireInOrder(queue: StatementQueue, callers: readonly (string | null)[]) {
  const served: (string | null)[] = [];
  const serve = async (caller: string | null) => {
    const release = await queue.acquire(WAIT_MS_MAX);
    served.push(caller);
    release();
  };
  const ended = callers.map((caller) => (caller === null ? serve(null) : runForCaller(caller, () => serve(caller))));
  return { served, ended: Promise.all(ended) };
}

test("callers whose statements wait take turns, and each statement of the service counts as a separate caller", async () => {
  const queue = createStatementQueue({ running: 1, waiting: 10 });
  const release = await queue.acquire(WAIT_MS_MAX);
  const { served, ended } = acquireInOrder(queue, ["ann", "ann", "ann", "bob", "bob", null, null]);
  assert.deepEqual(served, []);
  release();
  await ended;
  assert.deepEqual(served, ["ann", "bob", null, null, "ann", "bob", "ann"]);
});

test("a caller can use a limited number of slots, and the service can use all slots", async () => {
  const queue = createStatementQueue({ running: 3, runningPerCaller: 2, waiting: 10 });
  const releases = await runForCaller("ann", () => Promise.all([1, 2].map(() => queue.acquire(WAIT_MS_MAX))));
  const { served, ended } = acquireInOrder(queue, ["ann", "bob"]);
  await new Promise(setImmediate);
  assert.deepEqual(served, ["bob"]);
  releases[0]?.();
  await ended;
  releases[1]?.();
  const serviceReleases = await Promise.all([1, 2, 3].map(() => queue.acquire(WAIT_MS_MAX)));
  assert.equal(serviceReleases.length, 3);
});

test("a full queue rejects a request immediately and serves the queued requests", async () => {
  const queue = createStatementQueue({ running: 1, waiting: 2 });
  const release = await queue.acquire(WAIT_MS_MAX);
  const { served, ended } = acquireInOrder(queue, [null, null]);
  await assert.rejects(queue.acquire(WAIT_MS_MAX), isStoreUnavailable);
  release();
  await ended;
  assert.deepEqual(served, [null, null]);
});

test("at most 256 statements of one caller wait, and other callers and the service can still queue statements", async () => {
  const queue = createStatementQueue({ running: 1, waiting: 1_000 });
  const release = await queue.acquire(WAIT_MS_MAX);
  const many = acquireInOrder(
    queue,
    Array.from({ length: 256 }, () => "ann"),
  );
  await assert.rejects(
    runForCaller("ann", () => queue.acquire(WAIT_MS_MAX)),
    isStoreUnavailable,
  );
  const others = acquireInOrder(queue, ["bob", ...Array.from({ length: 300 }, () => null)]);
  release();
  await Promise.all([many.ended, others.ended]);
  assert.deepEqual([many.served.length, others.served.length], [256, 301]);
});

test("rejects a request that is queued for too long, and serves the next request", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const queue = createStatementQueue({ running: 1, waiting: 2 });
  const release = await queue.acquire(WAIT_MS_MAX);
  const expiringRequest = queue.acquire(WAIT_MS_MAX);
  t.mock.timers.tick(WAIT_MS_MAX + 1);
  await assert.rejects(expiringRequest, isStoreUnavailable);
  release();
  (await queue.acquire(WAIT_MS_MAX))();
});
