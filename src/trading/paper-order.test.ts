import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { TakerFee } from "../domain/market.ts";
import { fillPaperOrder } from "./paper-order.ts";

const FREE = { kind: "none" } as const;
const CENT_FEE = {
  kind: "quadratic",
  rate: 0.07,
  exponent: 1,
  rounding: { feeStep: 0.0001, balanceStep: 0.01 },
} as const;
const OFFERS = [
  { price: 0.4, size: 50 },
  { price: 0.5, size: 80 },
];
const WHOLE = { contractStep: 1, minOrderContracts: null };
const order = (valueUsd: number, rules: Parameters<typeof fillPaperOrder>[3] = WHOLE, fee: TakerFee = FREE) =>
  fillPaperOrder(OFFERS, fee, valueUsd, rules);

test("example: an order of 30 USD buys 50 contracts at 0.4 and 20 at 0.5", () => {
  const fill = { contracts: 70, averagePrice: 30 / 70, feeUsd: 0, costUsd: 30 };
  assert.deepEqual(order(30), { kind: "filled", fill });
  assert.deepEqual(order(30.49), { kind: "filled", fill }, "the rest does not pay for a contract");
});

test("example: the fees at all prices are added, rounded up once, and paid on top of the amount", () => {
  // 0.07 × (50 × 0.24 + 20 × 0.25) = 1.19.
  const result = order(30, WHOLE, CENT_FEE);
  assert.ok(result.kind === "filled");
  assert.deepEqual([result.fill.feeUsd, result.fill.costUsd], [1.19, 31.19]);
});

test("an order is filled completely or not at all", () => {
  const contractsOf = (result: ReturnType<typeof order>) => (result.kind === "filled" ? result.fill.contracts : null);
  assert.equal(contractsOf(order(60)), 130);
  assert.deepEqual(order(60.01), { kind: "unavailable" });
  assert.deepEqual(fillPaperOrder([], FREE, 0.01, WHOLE), { kind: "unavailable" });
});

test("if the amount is below the cost of the smallest order, returns that order, or null if the offers are too few", () => {
  const smallestOf = (result: ReturnType<typeof order>) =>
    result.kind === "too_small" && result.smallest !== null
      ? [result.smallest.contracts, Math.round(result.smallest.costUsd * 1e6) / 1e6]
      : result;
  assert.deepEqual(smallestOf(order(0.39)), [1, 0.4]);
  assert.deepEqual(smallestOf(order(22.49, { contractStep: 1, minOrderContracts: 55 })), [55, 22.5]);
  assert.equal(order(22.5, { contractStep: 1, minOrderContracts: 55 }).kind, "filled");
  assert.deepEqual(smallestOf(order(0.02, { contractStep: 0.01, minOrderContracts: 0.1 })), [0.1, 0.04]);
  assert.deepEqual(order(1, { contractStep: 1, minOrderContracts: 131 }), { kind: "too_small", smallest: null });
});

test("law: the order is the largest multiple of the step that the amount pays for, for steps 1, 0.01 and unknown", () => {
  const offer = fc.record({
    price: fc.integer({ min: 1, max: 99 }).map((cents) => cents / 100),
    size: fc.integer({ min: 1, max: 900 }),
  });
  const offers = fc.array(offer, { maxLength: 8 }).map((list) => list.sort((a, b) => a.price - b.price));
  const steps = fc.constantFrom(1, 0.01, null);
  fc.assert(
    fc.property(offers, fc.integer({ min: 1, max: 200_000 }), steps, (list, cents, contractStep) => {
      const valueUsd = cents / 100;
      const result = fillPaperOrder(list, FREE, valueUsd, { contractStep, minOrderContracts: null });
      const worth = list.reduce((sum, { price, size }) => sum + price * size, 0);
      if (result.kind === "unavailable") return assert.ok(worth < valueUsd + 1e-6);
      const step = contractStep ?? 1;
      if (result.kind === "too_small") return assert.ok(valueUsd < (list[0]?.price ?? 0) * step);
      const { contracts, averagePrice, costUsd } = result.fill;
      assert.equal(contracts, Math.round(contracts / step) / Math.round(1 / step), "on the step");
      assert.ok(averagePrice > 0 && averagePrice < 1);
      const worst = Math.max(...list.map(({ price }) => price));
      assert.ok(costUsd <= valueUsd + 1e-6 && costUsd > valueUsd - step * worst - 1e-6);
    }),
  );
});

test("throws a RangeError for amounts and sizes of 0 or less, and prices of 0", () => {
  for (const usd of [0, -1, Number.NaN, Infinity]) assert.throws(() => order(usd), RangeError);
  for (const offer of [
    { price: 0, size: 1 },
    { price: 0.5, size: 0 },
  ])
    assert.throws(() => fillPaperOrder([offer], FREE, 1, WHOLE), RangeError);
});
