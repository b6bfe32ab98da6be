import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { walkBook } from "../quant/book-walk.ts";
import { fillPaperOrder } from "./paper-order.ts";

const FREE = { kind: "none" } as const;
const OFFERS = [
  { price: 0.4, size: 50 },
  { price: 0.5, size: 80 },
];

test("example: an order of 30 USD buys 50 contracts at 0.4 and 20 at 0.5", () => {
  assert.deepEqual(fillPaperOrder(OFFERS, FREE, 30), { contracts: 70, averagePrice: 30 / 70, feeUsd: 0, costUsd: 30 });
});

test("example: the fees at all prices are added, rounded up once, and paid on top of the amount", () => {
  const fee = { kind: "quadratic", rate: 0.07, exponent: 1, rounding: { feeStep: 0.0001, balanceStep: 0.01 } } as const;
  // 0.07 × (50 × 0.24 + 20 × 0.25) = 1.19.
  const fill = fillPaperOrder(OFFERS, fee, 30);
  assert.deepEqual([fill?.feeUsd, fill?.costUsd], [1.19, 31.19]);
  assert.equal(fillPaperOrder(OFFERS, fee, 29.99)?.feeUsd, 1.19);
});

test("an order is filled completely or not at all", () => {
  assert.equal(fillPaperOrder(OFFERS, FREE, 60)?.contracts, 130);
  assert.equal(fillPaperOrder(OFFERS, FREE, 60.01), null);
  assert.equal(fillPaperOrder([], FREE, 0.01), null);
});

test("law: the fill has the contracts and the average price of a market order of the same value", () => {
  const offer = fc.record({
    price: fc.integer({ min: 1, max: 99 }).map((cents) => cents / 100),
    size: fc.integer({ min: 1, max: 900 }),
  });
  const offers = fc.array(offer, { maxLength: 8 }).map((list) => list.sort((a, b) => a.price - b.price));
  fc.assert(
    fc.property(offers, fc.double({ min: 0.01, max: 2_000, noNaN: true }), (list, valueUsd) => {
      const fill = fillPaperOrder(list, FREE, valueUsd);
      const walk = walkBook(list, valueUsd);
      assert.equal(fill !== null, walk.isComplete);
      if (fill === null) return;
      assert.ok(Math.abs(fill.contracts / walk.contracts - 1) < 1e-9);
      assert.ok(Math.abs(fill.averagePrice * fill.contracts - valueUsd) < 1e-6);
      assert.ok(fill.averagePrice > 0 && fill.averagePrice < 1);
    }),
  );
});

test("throws a RangeError for amounts and sizes of 0 or less, and prices outside (0, 1)", () => {
  for (const usd of [0, -1, Number.NaN, Infinity]) assert.throws(() => fillPaperOrder(OFFERS, FREE, usd), RangeError);
  for (const offer of [
    { price: 0, size: 1 },
    { price: 1, size: 1 },
    { price: 0.5, size: 0 },
  ])
    assert.throws(() => fillPaperOrder([offer], FREE, 1), RangeError);
});
