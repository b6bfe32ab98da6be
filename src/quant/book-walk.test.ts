import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { slippagePercent, takeContracts, walkBook } from "./book-walk.ts";

const BOOK = [
  { price: 0.5, size: 100 },
  { price: 0.6, size: 100 },
];
const level = fc.record({
  price: fc.integer({ min: 1, max: 99 }).map((cents) => cents / 100),
  size: fc.integer({ min: 1, max: 10_000 }),
});
const asks = fc.array(level, { maxLength: 20 }).map((levels) => levels.sort((a, b) => a.price - b.price));
const value = fc.integer({ min: 1, max: 100_000 });
const offeredUsd = (levels: typeof BOOK) => levels.reduce((sum, { price, size }) => sum + price * size, 0);

test("known value: $80 buys 100 contracts at 50 cents and 50 at 60 cents", () => {
  const walk = walkBook([...BOOK, { price: 0.7, size: 1 }], 80);
  assert.deepEqual(walk, { contracts: 150, averagePrice: 80 / 150, isComplete: true });
  assert.deepEqual(takeContracts([...BOOK, { price: 0.7, size: 1 }], 150), [
    { price: 0.5, contracts: 100 },
    { price: 0.6, contracts: 50 },
  ]);
  assert.ok(Math.abs((slippagePercent(BOOK, 80) ?? 0) - 20 / 3) < 1e-12);
});

test("known value: $58 sell 100 contracts at 50 cents and 20 at 40 cents, 3.33% below the best bid", () => {
  const bids = [
    { price: 0.5, size: 100 },
    { price: 0.4, size: 100 },
  ];
  assert.ok(Math.abs((slippagePercent(bids, 58) ?? 0) - 10 / 3) < 1e-12);
});

test("an order for the total value of the side is filled completely", () => {
  assert.equal(walkBook(BOOK, 110).isComplete, true);
});

test("an order within the best level has no slippage", () => {
  fc.assert(
    fc.property(level, fc.double({ min: 0.001, max: 1, noNaN: true }), (best, share) => {
      const slippage = slippagePercent([best, { price: 0.99, size: 5 }], best.price * best.size * share);
      return slippage !== null && slippage < 1e-9;
    }),
  );
});

test("an order spends its value or the value of the side, at a mean price between its best and its worst price", () => {
  fc.assert(
    fc.property(asks, value, (levels, valueUsd) => {
      const walk = walkBook(levels, valueUsd);
      const worstPrice = takeContracts(levels, walk.contracts).at(-1)?.price;
      if (walk.averagePrice === null || worstPrice === undefined) return levels.length === 0;
      const costUsd = walk.contracts * walk.averagePrice;
      assert.ok(Math.abs(costUsd - Math.min(valueUsd, offeredUsd(levels))) < 1e-6);
      assert.ok(walk.averagePrice >= (levels[0]?.price ?? 0) - 1e-12);
      assert.ok(walk.averagePrice <= worstPrice + 1e-12);
    }),
  );
});

test("a larger order never has a better mean price, and more offers never make it worse", () => {
  fc.assert(
    fc.property(asks, level, value, value, (levels, extra, a, b) => {
      const meanOf = (book: typeof levels, usd: number) => walkBook(book, usd).averagePrice ?? 0;
      if (meanOf(levels, Math.max(a, b)) < meanOf(levels, Math.min(a, b)) - 1e-9) return false;
      const more = [...levels, extra].sort((x, y) => x.price - y.price);
      return !walkBook(levels, a).isComplete || meanOf(more, a) <= meanOf(levels, a) + 1e-9;
    }),
  );
});

test("a side that cannot fill the order has no slippage figure", () => {
  assert.equal(slippagePercent([], 10), null);
  assert.equal(slippagePercent(BOOK, 111), null);
  assert.deepEqual(walkBook([], 10), { contracts: 0, averagePrice: null, isComplete: false });
});

test("values, prices and sizes that are not above 0 are refused", () => {
  for (const valueUsd of [0, -1, Number.NaN, Infinity]) assert.throws(() => walkBook(BOOK, valueUsd), RangeError);
  assert.throws(() => walkBook([{ price: 0, size: 1 }], 1), RangeError);
  assert.throws(() => walkBook([{ price: 0.5, size: -1 }], 1), RangeError);
});
