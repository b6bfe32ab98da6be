import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SlidingLog } from "./sliding-log.ts";

const WINDOW_MS = 60_000;

/** Sends one request at each timestamp and returns the timestamps of the accepted ones. */
function takeAtTimes(log: SlidingLog, times: readonly number[], limit: number): number[] {
  return times.filter((now) => log.take("caller", limit, now).isAllowed);
}

test("never allows more requests than the limit in any 60 s, and rejects no request within the limit", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.integer({ min: 0, max: 15_000 }), { minLength: 1, maxLength: 200 }),
      (limit, gaps) => {
        const log = new SlidingLog({ windowMs: WINDOW_MS });
        let now = 0;
        const times = gaps.map((gap) => {
          now += gap;
          return now;
        });
        const accepted = takeAtTimes(log, times, limit);
        for (const from of accepted) {
          const inWindow = accepted.filter((at) => at >= from && at < from + WINDOW_MS).length;
          assert.ok(inWindow <= limit);
        }
        const expected: number[] = [];
        for (const at of times) {
          if (expected.filter((other) => other > at - WINDOW_MS).length < limit) expected.push(at);
        }
        assert.deepEqual(accepted, expected);
      },
    ),
  );
});

test("allows the next request exactly after the reported wait", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.integer({ min: 0, max: 20_000 })), (limit, gaps) => {
      const log = new SlidingLog({ windowMs: WINDOW_MS });
      let now = 0;
      for (const gap of gaps) {
        now += gap;
        log.take("a", limit, now);
      }
      const rejected = log.take("a", limit, now);
      if (rejected.isAllowed) return;
      assert.equal(log.take("a", limit, now + rejected.waitMs - 1).isAllowed, false);
      assert.equal(log.take("a", limit, now + rejected.waitMs).isAllowed, true);
    }),
  );
});

test("allows exactly `remaining` more requests", () => {
  const log = new SlidingLog({ windowMs: WINDOW_MS });
  const { remaining } = log.take("a", 7, 0);
  let allowed = 0;
  while (log.take("a", 7, 0).isAllowed) allowed += 1;
  assert.equal(allowed, remaining);
});

test("earlier requests stay counted if the limit is raised or lowered", () => {
  const log = new SlidingLog({ windowMs: WINDOW_MS });
  for (let count = 0; count < 3; count++) log.take("a", 3, count);
  assert.equal(log.take("a", 5, 10).remaining, 1);
  assert.equal(log.take("a", 2, 20).isAllowed, false);
  assert.deepEqual(log.take("a", 2, 30), { isAllowed: false, remaining: 0, waitMs: 59_972 });
});

test("a limit of 0 rejects every request", () => {
  assert.equal(new SlidingLog({ windowMs: WINDOW_MS }).take("a", 0, 0).isAllowed, false);
});

test("`removeNewest` removes the newest request, and `waitMs` counts no request", () => {
  const log = new SlidingLog({ windowMs: WINDOW_MS });
  log.take("a", 2, 0);
  log.take("a", 2, 10);
  assert.equal(log.waitMs("a", 2, 20), WINDOW_MS - 20);
  assert.equal(log.waitMs("a", 1, 20), WINDOW_MS - 10);
  log.removeNewest("a");
  assert.equal(log.waitMs("a", 2, 20), 0);
  assert.deepEqual(log.take("a", 2, 30), { isAllowed: true, remaining: 0, waitMs: WINDOW_MS - 30 });
  assert.equal(log.waitMs("b", 2, 30), 0);
});

test("limits callers separately, and deletes callers without recent requests", () => {
  const log = new SlidingLog({ windowMs: WINDOW_MS, callersMax: 3 });
  assert.equal(log.take("a", 1, 0).isAllowed, true);
  assert.equal(log.take("b", 1, 0).isAllowed, true);
  assert.equal(log.take("a", 1, 1).isAllowed, false);
  for (const caller of ["c", "d", "e"]) log.take(caller, 1, 2);
  assert.equal(log.size, 3);
  log.take("f", 1, 70_000);
  assert.equal(log.size, 1);
});
