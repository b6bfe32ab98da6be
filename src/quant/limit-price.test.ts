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

/** Steps of 0.001 below 0.10 and above 0.90, and of 0.01 between. */
const TAPERED = [
  { from: 0, to: 0.1, step: 0.001 },
  { from: 0.1, to: 0.9, step: 0.01 },
  { from: 0.9, to: 1, step: 0.001 },
];
const even = (step: number) => [{ from: 0, to: 1, step }];
const priceOf = (bid: number, ask: number, trend: (typeof TRENDS)[number] = null, priceRanges = even(0.01)) =>
  limitPrice({ bid, ask, priceRanges, trend, action: "buy" });

test("known values: the limit is the mid, or differs by a quarter of the spread if the spread tightens or widens", () => {
  const prices = TRENDS.map((trend) => priceOf(0.4, 0.44, trend));
  assert.deepEqual(prices, [0.41, 0.42, 0.43, 0.42]);
});

test("closed form: with a spread of one tick the order has the price of the bid, for every trend", () => {
  for (const trend of TRENDS) assert.equal(priceOf(0.4, 0.41, trend), 0.4);
  assert.equal(priceOf(0.4, 0.43, "stable"), 0.41);
});

test("the price is a multiple of the tick, at or above the bid, below the ask, and highest if the spread widens", () => {
  fc.assert(
    fc.property(quote, ({ bid, ask, tick }) => {
      const [low, middle, high, unknown] = TRENDS.map((trend) => priceOf(bid, ask, trend, even(tick)) ?? Number.NaN);
      for (const price of [low, middle, high]) {
        assert.equal(toMicros(price ?? 0) % toMicros(tick), 0);
        assert.ok((price ?? 0) >= bid && (price ?? 1) < ask);
      }
      assert.ok((low ?? 1) <= (middle ?? 0) && (middle ?? 1) <= (high ?? 0));
      assert.equal(middle, unknown);
    }),
  );
});

test("a price off the grid is rounded down, and is null if no price of the grid lies below the ask", () => {
  assert.equal(priceOf(0.405, 0.409), 0.4);
  assert.equal(priceOf(0.002, 0.008), null);
  assert.equal(priceOf(0.01, 0.02), 0.01);
  assert.equal(priceOf(0.4, 0.5, "widening", even(0.001)), 0.475);
});

test("the step is that of the range in which the order lies, not the smallest of all ranges", () => {
  assert.equal(priceOf(0.41, 0.46, null, TAPERED), 0.43);
  assert.equal(priceOf(0.052, 0.057, null, TAPERED), 0.054);
  assert.equal(priceOf(0.09, 0.12, "widening", TAPERED), 0.11);
  assert.equal(priceOf(0.88, 0.907, "tightening", TAPERED), 0.88);
});

test("a sale mirrors a purchase: rounded up, above the bid, and lower if the spread widens", () => {
  const saleOf = (bid: number, ask: number, trend: (typeof TRENDS)[number], priceRanges = even(0.01)) =>
    limitPrice({ bid, ask, priceRanges, trend, action: "sell" });
  assert.deepEqual(
    TRENDS.map((trend) => saleOf(0.4, 0.44, trend)),
    [0.43, 0.42, 0.41, 0.42],
  );
  assert.deepEqual([saleOf(0.4, 0.41, "widening"), saleOf(0.41, 0.46, null, TAPERED)], [0.41, 0.44]);
  fc.assert(
    fc.property(quote, fc.constantFrom(...TRENDS), ({ bid, ask, tick }, trend) => {
      const price = saleOf(bid, ask, trend, even(tick));
      assert.ok(price !== null && price > bid && price <= ask);
      const mirrored = priceOf(1 - ask, 1 - bid, trend, even(tick));
      assert.equal(toMicros(price), 1_000_000 - toMicros(mirrored ?? 0));
    }),
  );
});

test("crossed quotes and prices outside [0, 1] are refused", () => {
  for (const [bid, ask] of [
    [0.5, 0.5],
    [-0.1, 0.5],
    [0.5, 1.1],
    [Number.NaN, 0.5],
  ] as const)
    assert.throws(() => priceOf(bid, ask), RangeError);
});
