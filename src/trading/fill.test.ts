import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { TakerFee } from "../domain/market.ts";
import { buy, buyForUsd } from "./index.ts";

const NO_FEE: TakerFee = { kind: "none" };
const CENT_FEE: TakerFee = { kind: "quadratic", rate: 0.07, exponent: 1, roundsUpTo: 0.01 };
const OFFERS = [
  { price: 0.5, size: 10 },
  { price: 0.6, size: 10 },
];

test("buys from the best offer on until the amount is spent, fees included", () => {
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

test("what an amount buys costs the amount again", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.constantFrom(NO_FEE, { ...CENT_FEE, roundsUpTo: 0 }),
      (count, fee) => {
        const fill = buy(OFFERS, fee, count);
        assert.ok(fill !== null);
        assert.ok(Math.abs(buyForUsd(OFFERS, fee, fill.costUsd).contracts - count) < 1e-9);
      },
    ),
  );
});
