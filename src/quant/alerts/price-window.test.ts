import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { MINUTE_MS } from "../../lib/durations.ts";
import { PriceWindow } from "./price-window.ts";

test("returns the price of the last hour that is furthest from a given price, with the last time of that price", () => {
  const window = new PriceWindow();
  assert.equal(window.furthestFrom(0.5, 0), null);
  for (const [minute, price] of [
    [0, 0.5],
    [10, 0.42],
    [20, 0.55],
    [30, 0.6],
  ] as const)
    window.add(minute * MINUTE_MS, price);
  assert.deepEqual(window.furthestFrom(0.6, 30 * MINUTE_MS), { at: 10 * MINUTE_MS, yesPrice: 0.42 });
  assert.deepEqual(window.furthestFrom(0.4, 30 * MINUTE_MS), { at: 30 * MINUTE_MS, yesPrice: 0.6 });
  assert.deepEqual(window.furthestFrom(0.6, 71 * MINUTE_MS), { at: 20 * MINUTE_MS, yesPrice: 0.55 });
  assert.equal(window.furthestFrom(0.6, 90 * MINUTE_MS), null);
});

test("a price stays in the window for 57 to 60 minutes (brute force with a list of all prices)", () => {
  const changes = fc.array(fc.tuple(fc.integer({ min: 0, max: 600_000 }), fc.integer({ min: 1, max: 99 })), {
    minLength: 1,
    maxLength: 80,
  });
  fc.assert(
    fc.property(changes, (steps) => {
      const window = new PriceWindow();
      const prices: { at: number; yesPrice: number }[] = [];
      let at = 1_000_000_000;
      for (const [pauseMs, cents] of steps) {
        at += pauseMs;
        window.add(at, cents / 100);
        prices.push({ at, yesPrice: cents / 100 });
        const found = window.furthestFrom(cents / 100, at);
        const distances = (ageMs: number) =>
          prices.filter((price) => at - price.at < ageMs).map((price) => Math.abs(price.yesPrice - cents / 100));
        const distance = Math.abs((found?.yesPrice ?? Number.NaN) - cents / 100);
        assert.ok(
          distance >= Math.max(...distances(57 * MINUTE_MS)) && distance <= Math.max(...distances(60 * MINUTE_MS)),
        );
        assert.ok(window.size <= 20);
      }
    }),
  );
});

test("has at most 20 entries, and is empty an hour after the last price", () => {
  const window = new PriceWindow();
  for (let second = 0; second < 7_200; second++) window.add(second * 1_000, 0.5);
  assert.equal(window.size, 20);
  assert.ok(!window.isEmpty(7_199_000 + 57 * MINUTE_MS));
  assert.ok(window.isEmpty(7_199_000 + 60 * MINUTE_MS));
});

test("a price that arrives late is ignored", () => {
  const window = new PriceWindow();
  window.add(50 * MINUTE_MS, 0.5);
  window.add(40 * MINUTE_MS, 0.3);
  assert.deepEqual(window.furthestFrom(0.5, 50 * MINUTE_MS), { at: 50 * MINUTE_MS, yesPrice: 0.5 });
});

test("refuses a price outside [0, 1]", () => {
  assert.throws(() => new PriceWindow().add(0, 1.01), RangeError);
  assert.throws(() => new PriceWindow().add(0, Number.NaN), RangeError);
});
