import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { createIdempotencyCache } from "./idempotency-cache.ts";

test("runs the work at most once per id and minute, even for simultaneous calls", async () => {
  const clock = new FakeClock();
  const once = createIdempotencyCache<number>(clock);
  let count = 0;
  const work = async () => ++count;
  assert.deepEqual(await Promise.all([once.run("a", work), once.run("a", work), once.run("b", work)]), [1, 1, 2]);
  await clock.advance(59_999);
  assert.equal(await once.run("a", work), 1);
  await clock.advance(1);
  assert.equal(await once.run("a", work), 3);
});

test("repeats failed work, and stores the 1,000 most recent results", async () => {
  const once = createIdempotencyCache<number>(new FakeClock());
  await assert.rejects(once.run("a", async () => Promise.reject(new Error("no"))));
  assert.equal(await once.run("a", async () => 1), 1);
  for (let index = 0; index < 999; index++) await once.run(`more ${index}`, async () => index);
  assert.equal(await once.run("a", async () => 2), 1);
  await once.run("one too many", async () => 0);
  assert.equal(await once.run("a", async () => 3), 3);
});
