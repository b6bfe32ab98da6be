import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SlidingLog } from "./sliding-log.ts";

const WINDOW_MS = 60_000;

/** Takes at each instant; gives the instants that were accepted. */
function accepted(log: SlidingLog, instants: readonly number[], limit: number): number[] {
  return instants.filter((now) => log.take("caller", limit, now).isAllowed);
}

test("30 requests pass, the 31st waits until the first has left the window, to the millisecond", () => {
  const log = new SlidingLog({ windowMs: WINDOW_MS });
  for (let count = 0; count < 30; count++) {
    assert.deepEqual(log.take("a", 30, 1_000 + count).isAllowed, true);
  }
  assert.deepEqual(log.take("a", 30, 2_000), { isAllowed: false, remaining: 0, waitMs: 59_000 });
  assert.equal(log.take("a", 30, 60_999).isAllowed, false);
  assert.equal(log.take("a", 30, 61_000).isAllowed, true);
  assert.deepEqual(log.take("a", 30, 61_000), { isAllowed: false, remaining: 0, waitMs: 1 });
});

test("no window of 60 s, wherever it begins, ever holds more than the limit, and none is refused without need", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.integer({ min: 0, max: 15_000 }), { minLength: 1, maxLength: 200 }),
      (limit, gaps) => {
        const log = new SlidingLog({ windowMs: WINDOW_MS });
        let now = 0;
        const instants = gaps.map((gap) => {
          now += gap;
          return now;
        });
        const passed = accepted(log, instants, limit);
        for (const from of passed) {
          const inWindow = passed.filter((at) => at >= from && at < from + WINDOW_MS).length;
          assert.ok(inWindow <= limit);
        }
        const naive: number[] = [];
        for (const at of instants) {
          if (naive.filter((other) => other > at - WINDOW_MS).length < limit) naive.push(at);
        }
        assert.deepEqual(passed, naive);
      },
    ),
  );
});

test("the wait that is told is true: nothing passes before it, one passes after it", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(fc.integer({ min: 0, max: 20_000 })), (limit, gaps) => {
      const log = new SlidingLog({ windowMs: WINDOW_MS });
      let now = 0;
      for (const gap of gaps) {
        now += gap;
        log.take("a", limit, now);
      }
      const refused = log.take("a", limit, now);
      if (refused.isAllowed) return;
      assert.equal(log.take("a", limit, now + refused.waitMs - 1).isAllowed, false);
      assert.equal(log.take("a", limit, now + refused.waitMs).isAllowed, true);
    }),
  );
});

test("what remains is what then passes", () => {
  const log = new SlidingLog({ windowMs: WINDOW_MS });
  const { remaining } = log.take("a", 7, 0);
  let passed = 0;
  while (log.take("a", 7, 0).isAllowed) passed += 1;
  assert.equal(passed, remaining);
});

test("a limit that changes keeps what was used: an upgrade adds, a downgrade does not forgive", () => {
  const log = new SlidingLog({ windowMs: WINDOW_MS });
  for (let count = 0; count < 3; count++) log.take("a", 3, count);
  assert.equal(log.take("a", 5, 10).remaining, 1);
  assert.equal(log.take("a", 2, 20).isAllowed, false);
  assert.deepEqual(log.take("a", 2, 30), { isAllowed: false, remaining: 0, waitMs: 59_972 });
});

test("no limit at all means no request", () => {
  assert.equal(new SlidingLog({ windowMs: WINDOW_MS }).take("a", 0, 0).isAllowed, false);
});

test("a request that is given back was never there, and asking for the wait takes nothing", () => {
  const log = new SlidingLog({ windowMs: WINDOW_MS });
  log.take("a", 2, 0);
  log.take("a", 2, 10);
  assert.equal(log.waitMs("a", 2, 20), WINDOW_MS - 20);
  assert.equal(log.waitMs("a", 1, 20), WINDOW_MS - 10);
  log.giveBack("a");
  assert.equal(log.waitMs("a", 2, 20), 0);
  assert.deepEqual(log.take("a", 2, 30), { isAllowed: true, remaining: 0, waitMs: WINDOW_MS - 30 });
  assert.equal(log.waitMs("b", 2, 30), 0);
});

test("callers do not share, and those who have been quiet are forgotten", () => {
  const log = new SlidingLog({ windowMs: WINDOW_MS, callersMax: 3 });
  assert.equal(log.take("a", 1, 0).isAllowed, true);
  assert.equal(log.take("b", 1, 0).isAllowed, true);
  assert.equal(log.take("a", 1, 1).isAllowed, false);
  for (const caller of ["c", "d", "e"]) log.take(caller, 1, 2);
  assert.equal(log.size, 3);
  log.take("f", 1, 70_000);
  assert.equal(log.size, 1);
});
