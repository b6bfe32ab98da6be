import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { toMicros } from "../domain/price.ts";
import { limitPrice } from "./limit-price.ts";

const TRENDS = ["tightening", "stable", "widening", null] as const;
const quote = fc
  .record({
    tick: fc.constantFrom(0.01, 0.001, 0.005),
    low: fc.integer({ min: 1, max: 990 }),
    width: fc.integer({ min: 1, max: 500 }),
  })
  .map(({ tick, low, width }) => {
    const ticks = Math.round(1 / tick);
    const bid = 1 + (low % (ticks - 2));
    return { tick, bid: bid / ticks, ask: Math.min(ticks - 1, bid + width) / ticks };
  });

test("known values: a quarter of the spread below the mid, at the mid, and above it", () => {
  const prices = TRENDS.map((trend) => limitPrice({ bid: 0.4, ask: 0.44, tick: 0.01, trend }));
  assert.deepEqual(prices, [0.41, 0.42, 0.43, 0.42]);
});

test("closed form: with a spread of one tick the order joins the bid, whatever the trend", () => {
  for (const trend of TRENDS) assert.equal(limitPrice({ bid: 0.4, ask: 0.41, tick: 0.01, trend }), 0.4);
  assert.equal(limitPrice({ bid: 0.4, ask: 0.43, tick: 0.01, trend: "stable" }), 0.41);
});

test("the price is a multiple of the tick, at or above the bid, below the ask, and highest if the spread widens", () => {
  fc.assert(
    fc.property(quote, ({ bid, ask, tick }) => {
      const [low, middle, high, unknown] = TRENDS.map((trend) => limitPrice({ bid, ask, tick, trend }) ?? Number.NaN);
      for (const price of [low, middle, high]) {
        assert.equal(toMicros(price ?? 0) % toMicros(tick), 0);
        assert.ok((price ?? 0) >= bid && (price ?? 1) < ask);
      }
      assert.ok((low ?? 1) <= (middle ?? 0) && (middle ?? 1) <= (high ?? 0));
      assert.equal(middle, unknown);
    }),
  );
});

test("a price off the grid is rounded down, and null if nothing lies below the ask", () => {
  assert.equal(limitPrice({ bid: 0.405, ask: 0.409, tick: 0.01, trend: null }), 0.4);
  assert.equal(limitPrice({ bid: 0.002, ask: 0.008, tick: 0.01, trend: null }), null);
  assert.equal(limitPrice({ bid: 0.01, ask: 0.02, tick: 0.01, trend: null }), 0.01);
  assert.equal(limitPrice({ bid: 0.4, ask: 0.5, tick: 0.001, trend: "widening" }), 0.475);
});

test("crossed quotes, prices outside [0, 1] and ticks that are not above 0 are refused", () => {
  assert.throws(() => limitPrice({ bid: 0.5, ask: 0.5, tick: 0.01, trend: null }), RangeError);
  assert.throws(() => limitPrice({ bid: -0.1, ask: 0.5, tick: 0.01, trend: null }), RangeError);
  assert.throws(() => limitPrice({ bid: 0.5, ask: 1.1, tick: 0.01, trend: null }), RangeError);
  assert.throws(() => limitPrice({ bid: Number.NaN, ask: 0.5, tick: 0.01, trend: null }), RangeError);
  for (const tick of [0, -0.01, Number.NaN])
    assert.throws(() => limitPrice({ bid: 0.4, ask: 0.5, tick, trend: null }), RangeError);
});
