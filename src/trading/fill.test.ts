import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { TakerFee } from "../domain/market.ts";
import { buyWithinBudget } from "./fill.ts";
import { buy, buyForUsd } from "./index.ts";

const NO_FEE: TakerFee = { kind: "none" };
const CENT_FEE: TakerFee = {
  kind: "quadratic",
  rate: 0.07,
  exponent: 1,
  rounding: { feeStep: 0.0001, balanceStep: 0.01 },
};
const OFFERS = [
  { price: 0.5, size: 10 },
  { price: 0.6, size: 10 },
];

test("buys the best offers first until the amount, including fees, is spent", () => {
  assert.deepEqual(buyForUsd(OFFERS, NO_FEE, 8), { contracts: 15, spentUsd: 8, averageCost: 8 / 15, isComplete: true });
  assert.equal(buyForUsd(OFFERS, NO_FEE, 11).isComplete, true);
  assert.deepEqual(buyForUsd(OFFERS, NO_FEE, 12), {
    contracts: 20,
    spentUsd: 11,
    averageCost: 0.55,
    isComplete: false,
  });
  assert.equal(buyForUsd(OFFERS, CENT_FEE, 0).averageCost, 0.5175);
  assert.throws(() => buyForUsd([], NO_FEE, 1), RangeError);
});

test("buys whole contracts with the fee that the venue rounds up", () => {
  assert.deepEqual(buy(OFFERS, NO_FEE, 15), { contracts: 15, averagePrice: 8 / 15, feeUsd: 0, costUsd: 8 });
  assert.deepEqual(buy(OFFERS, CENT_FEE, 1), { contracts: 1, averagePrice: 0.5, feeUsd: 0.02, costUsd: 0.52 });
  assert.equal(buy(OFFERS, NO_FEE, 21), null);
  assert.equal(buy(OFFERS, NO_FEE, 0), null);
  assert.equal(buy([], NO_FEE, 1), null);
});

test("an order within an amount is a multiple of the contract step", () => {
  // A contract costs 0.5175, and what the order costs is rounded up to a cent: 1.99 contracts cost 1.0299.
  assert.equal(buyWithinBudget(OFFERS, CENT_FEE, 1.04, 0.01)?.contracts, 2);
  assert.equal(buyWithinBudget(OFFERS, CENT_FEE, 1.03, 0.01)?.contracts, 1.99);
  assert.equal(buyWithinBudget(OFFERS, NO_FEE, 4, 5)?.contracts, 5);
  assert.equal(buyWithinBudget(OFFERS, NO_FEE, 2, 5), null);
});

test("the cost of a number of contracts buys exactly that number", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.constantFrom(NO_FEE, { ...CENT_FEE, rounding: undefined }),
      (count, fee) => {
        const fill = buy(OFFERS, fee, count);
        assert.ok(fill !== null);
        assert.ok(Math.abs(buyForUsd(OFFERS, fee, fill.costUsd).contracts - count) < 1e-9);
      },
    ),
  );
});

test("the average price is not above the worst price", () => {
  const prices = fc.integer({ min: 1, max: 99 }).map((cents) => cents / 100);
  fc.assert(
    fc.property(prices, fc.integer({ min: 1, max: 200 }), (price, count) => {
      const fill = buy([{ price, size: 200 }], NO_FEE, count);
      assert.ok(fill !== null && fill.averagePrice <= price);
    }),
  );
});

test("an order within an amount costs at most the amount, and one contract more costs more", () => {
  // Two contracts cost 1.035 USD, and 1.04 USD with the fee of the order.
  assert.equal(buyWithinBudget(OFFERS, CENT_FEE, 1.036, 1)?.contracts, 1);
  assert.equal(buyWithinBudget(OFFERS, CENT_FEE, 1.04, 1)?.contracts, 2);
  assert.equal(buyWithinBudget(OFFERS, CENT_FEE, 0.519, 1), null);
  fc.assert(
    fc.property(fc.double({ min: 0.6, max: 11, noNaN: true }), fc.constantFrom(NO_FEE, CENT_FEE), (usd, fee) => {
      const fill = buyWithinBudget(OFFERS, fee, usd, 1);
      assert.ok(fill !== null && fill.costUsd <= usd + 1e-9);
      const next = buy(OFFERS, fee, fill.contracts + 1);
      assert.ok(next === null || next.costUsd > usd - 1e-9);
    }),
  );
});
