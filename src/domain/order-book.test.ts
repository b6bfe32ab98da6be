import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isCrossed, normaliseBook } from "./order-book.ts";

test("sorts bids from the highest and asks from the lowest price", () => {
  const { bids, asks } = normaliseBook(
    [
      { price: 0.3, size: 1 },
      { price: 0.4, size: 2 },
    ],
    [
      { price: 0.6, size: 3 },
      { price: 0.5, size: 4 },
    ],
  );
  assert.deepEqual(
    bids.map((level) => level.price),
    [0.4, 0.3],
  );
  assert.deepEqual(
    asks.map((level) => level.price),
    [0.5, 0.6],
  );
});

test("removes levels with an untradable price or size", () => {
  const untradable = [
    { price: 0, size: 5 },
    { price: 1, size: 5 },
    { price: 1.7, size: 5 },
    { price: 0.5, size: 0 },
    { price: 0.5, size: -3 },
    { price: Number.NaN, size: 5 },
    { price: 0.5, size: Number.NaN },
  ];
  assert.deepEqual(normaliseBook(untradable, untradable), { bids: [], asks: [] });
});

test("always returns sorted, tradable levels and does not change its input", () => {
  const level = fc.record({
    price: fc.double({ min: -0.5, max: 1.5, noNaN: true }),
    size: fc.double({ min: -5, max: 5, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(level), fc.array(level), (bids, asks) => {
      const book = normaliseBook(Object.freeze(bids), Object.freeze(asks));
      assert.ok(book.bids.every(({ price }, index) => index === 0 || price <= (book.bids[index - 1]?.price ?? 0)));
      assert.ok(book.asks.every(({ price }, index) => index === 0 || price >= (book.asks[index - 1]?.price ?? 1)));
      for (const { price, size } of [...book.bids, ...book.asks]) assert.ok(price > 0 && price < 1 && size > 0);
    }),
  );
});

test("a book is crossed if its bid is at or above its ask; a one-sided book is not crossed", () => {
  assert.equal(isCrossed(0.5, 0.4), true);
  assert.equal(isCrossed(0.5, 0.5), true);
  assert.equal(isCrossed(0.4, 0.5), false);
  assert.equal(isCrossed(null, 0.5), false);
  assert.equal(isCrossed(0.5, null), false);
});
