import assert from "node:assert/strict";
import { test } from "node:test";
import { QueueFullError } from "../../lib/fair-semaphore.ts";
import { createHostSemaphore } from "./host-semaphore.ts";

const { signal } = new AbortController();

test("a host uses at most its share of the slots, and other hosts can use the rest", async () => {
  const slots = createHostSemaphore({ total: 3, perHost: 2, waiting: 10, waitingPerHost: 2 });
  const releases = [await slots.acquire("a", "ann", signal), await slots.acquire("a", "ann", signal)];
  const waiting = [slots.acquire("a", "ann", signal), slots.acquire("a", "ann", signal)];
  await assert.rejects(slots.acquire("a", "ann", signal), QueueFullError);
  releases.push(await slots.acquire("b", "ann", signal));
  for (const release of releases) release();
  for (const release of await Promise.all(waiting)) release();
  assert.equal(slots.hosts, 0);
});

test("the queue of all hosts is bounded, and a wait that is aborted frees its place", async () => {
  const slots = createHostSemaphore({ total: 1, perHost: 1, waiting: 2, waitingPerHost: 9 });
  const release = await slots.acquire("a", "ann", signal);
  const abort = new AbortController();
  const aborted = [slots.acquire("a", "ann", abort.signal), slots.acquire("b", "ann", abort.signal)];
  await assert.rejects(slots.acquire("c", "ann", signal), QueueFullError);
  abort.abort();
  for (const wait of aborted) await assert.rejects(wait, { name: "AbortError" });
  const next = slots.acquire("c", "ann", signal);
  release();
  (await next)();
  await assert.rejects(slots.acquire("d", "ann", AbortSignal.abort()), { name: "AbortError" });
  assert.equal(slots.hosts, 0);
});

test("customers whose requests wait for one host take turns", async () => {
  const slots = createHostSemaphore({ total: 9, perHost: 1, waiting: 9, waitingPerHost: 9 });
  const first = await slots.acquire("a", "ann", signal);
  const order: string[] = [];
  const waits = ["ann", "ann", "ann", "bob"].map(async (customer) => {
    const release = await slots.acquire("a", customer, signal);
    order.push(customer);
    release();
  });
  first();
  await Promise.all(waits);
  assert.deepEqual(order, ["ann", "bob", "ann", "ann"]);
});
