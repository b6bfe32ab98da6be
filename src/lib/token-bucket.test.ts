import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { TokenBucket } from "./token-bucket.ts";

/** Returns the times at which callers take tokens if each waits exactly as long as `take` returns. */
function listTakeTimes(options: { perSecond: number; capacity: number }, arrivalGapsMs: readonly number[]): number[] {
  const bucket = new TokenBucket({ ...options, now: 0 });
  const takeTimes: number[] = [];
  let now = 0;
  for (const gap of arrivalGapsMs) {
    now += gap;
    for (let waitMs = bucket.take(now); waitMs > 0; waitMs = bucket.take(now)) now += waitMs;
    takeTimes.push(now);
  }
  return takeTimes;
}

test("a full bucket grants `capacity` tokens immediately; the next call returns a wait", () => {
  const bucket = new TokenBucket({ perSecond: 1_000 / 64, capacity: 3, now: 0 });
  assert.deepEqual([bucket.take(0), bucket.take(0), bucket.take(0)], [0, 0, 0]);
  assert.equal(bucket.take(0), 64);
  assert.equal(bucket.take(63), 1);
  assert.equal(bucket.take(64), 0);
  assert.equal(bucket.take(64), 64);
});

test("a call that returns a wait takes no token", () => {
  const bucket = new TokenBucket({ perSecond: 1, capacity: 1, now: 0 });
  assert.equal(bucket.take(0), 0);
  for (let call = 0; call < 50; call++) assert.equal(bucket.take(500), 500);
  assert.equal(bucket.take(1_000), 0);
});

test("the bucket never refills above its capacity", () => {
  const bucket = new TokenBucket({ perSecond: 100, capacity: 2, now: 0 });
  assert.equal(bucket.take(1e9), 0);
  assert.equal(bucket.take(1e9), 0);
  assert.ok(bucket.take(1e9) > 0);
});

test("a clock that steps back adds no tokens", () => {
  const bucket = new TokenBucket({ perSecond: 1, capacity: 1, now: 1_000 });
  assert.equal(bucket.take(1_000), 0);
  assert.equal(bucket.take(0), 1_000);
  assert.equal(bucket.take(1_500), 500);
});

test("in any time window, at most the capacity plus the refill is granted", () => {
  const limits = fc.record({ perSecond: fc.integer({ min: 1, max: 50 }), capacity: fc.integer({ min: 1, max: 20 }) });
  const gaps = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 80 });
  fc.assert(
    fc.property(limits, gaps, (options, arrivalGapsMs) => {
      const takeTimes = listTakeTimes(options, arrivalGapsMs);
      for (const [first, start] of takeTimes.entries()) {
        for (const [last, end] of takeTimes.entries()) {
          if (last < first) continue;
          const allowed = options.capacity + ((end - start) * options.perSecond) / 1000;
          assert.ok(last - first + 1 <= allowed + 1e-6, `${last - first + 1} in ${end - start} ms`);
        }
      }
    }),
    { numRuns: 100 },
  );
});
