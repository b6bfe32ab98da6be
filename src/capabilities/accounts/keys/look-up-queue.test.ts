import assert from "node:assert/strict";
import { test } from "node:test";
import { isStoreUnavailable } from "../../../../test/support/asserts/error-code.ts";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { AppError } from "../../../domain/errors.ts";
import { createLookUpQueue, LOOK_UPS_PER_QUERY_MAX, QUERY_BURST } from "./look-up-queue.ts";

/** A queue whose queries stay pending until the test ends them. The value of a key is the key in upper case. */
function setUp() {
  const clock = new FakeClock();
  const queries: { readonly keys: readonly string[]; end(): void; fail(error: Error): void }[] = [];
  const queue = createLookUpQueue(
    clock,
    (keys: readonly string[]) =>
      new Promise<readonly string[]>((resolve, reject) =>
        queries.push({ keys, end: () => resolve(keys.map((key) => key.toUpperCase())), fail: reject }),
      ),
  );
  const endAll = async () => {
    for (let ended = 0; ended < queries.length; ended++) {
      queries[ended]?.end();
      await clock.settle();
    }
  };
  return { clock, queue, queries, endAll };
}

const ignoreFailure = (promise: Promise<unknown>) => promise.catch(() => {});

test("while four queries run, look-ups wait and share the next query", async () => {
  const { clock, queue, queries } = setUp();
  const values = Promise.all(Array.from({ length: 100 }, (_, index) => queue.find(`k${index}`, "192.0.2.1")));
  assert.equal(queries.length, 4);
  queries[0]?.end();
  await clock.settle();
  assert.deepEqual([queries.length, queries[4]?.keys.length], [5, 96]);
  for (const query of queries) query.end();
  assert.equal((await values)[99], "K99");
});

test("at most 100 queries a second are sent after the first 20", async () => {
  const { clock, queue, queries, endAll } = setUp();
  let foundCount = 0;
  for (let step = 0; step < 2_000; step++) {
    void queue.find(`k${step}`, "192.0.2.1").then(() => foundCount++);
    await clock.advance(1);
    await endAll();
  }
  await clock.advance(20);
  await endAll();
  assert.equal(foundCount, 2_000);
  assert.ok(queries.length <= QUERY_BURST + 203 && queries.length > 150, `${queries.length} queries`);
});

test("a look-up from one address is in the next query, even if many from another address wait", async () => {
  const { clock, queue, queries } = setUp();
  const flood = Array.from({ length: 1_000 }, (_, index) => queue.find(`flood${index}`, "192.0.2.1"));
  const quiet = queue.find("quiet", "198.51.100.1");
  queries[0]?.end();
  await clock.settle();
  assert.equal(queries[4]?.keys.length, LOOK_UPS_PER_QUERY_MAX);
  assert.ok(queries[4]?.keys.includes("quiet"));
  queries[4]?.end();
  assert.equal(await quiet, "QUIET");
  for (const promise of flood) void ignoreFailure(promise);
});

test("look-ups of keys that were valid before are sent first", async () => {
  const { clock, queue, queries } = setUp();
  for (let index = 0; index < 600; index++) void queue.find(`flood${index}`, "192.0.2.1");
  void queue.find("known", null);
  queries[0]?.end();
  await clock.settle();
  assert.equal(queries[4]?.keys[0], "known");
});

test("above 1,024 waiting look-ups of one address, only further look-ups of this address fail", async () => {
  const { queue } = setUp();
  for (let index = 0; index < 4 + 1_024; index++) void queue.find(`flood${index}`, "192.0.2.1");
  await assert.rejects(queue.find("one too many", "192.0.2.1"), isStoreUnavailable);
  const others = [queue.find("other", "198.51.100.1"), queue.find("known", null)];
  const first = await Promise.race([
    ...others.map((promise) => promise.then(String, String)),
    Promise.resolve("waits"),
  ]);
  assert.equal(first, "waits");
});

test("above 16,384 waiting look-ups, all further look-ups fail, also of previously valid keys", async () => {
  const { queue } = setUp();
  for (let index = 0; index < 4 + 16_384; index++) void queue.find(`flood${index}`, `192.0.2.${index % 32}`);
  for (const lane of ["198.51.100.1", null]) await assert.rejects(queue.find("one too many", lane), isStoreUnavailable);
});

test("if a query fails, its look-ups and all waiting ones fail, and later look-ups are sent", async () => {
  const { clock, queue, queries } = setUp();
  const values = Array.from({ length: 10 }, (_, index) => queue.find(`k${index}`, "192.0.2.1"));
  const results = Promise.allSettled(values);
  queries[0]?.fail(new AppError("store_unavailable", "unavailable"));
  await clock.settle();
  for (const query of queries) query.end();
  const statuses = (await results).map(({ status }) => status);
  assert.deepEqual(statuses, ["rejected", ...Array(3).fill("fulfilled"), ...Array(6).fill("rejected")]);
  const later = queue.find("later", "192.0.2.1");
  for (const query of queries) query.end();
  assert.equal(await later, "LATER");
});
