import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { TakerFee } from "../domain/market.ts";
import { orderFee, takerFee } from "./taker-fee.ts";

const QUADRATIC: TakerFee = { kind: "quadratic", rate: 0.07, exponent: 1 };
const OTHER: TakerFee = { ...QUADRATIC, rounding: { feeStep: 0.0001, balanceStep: 0.01 } };
const DIRECT: TakerFee = { ...QUADRATIC, rounding: { feeStep: 0.0001, balanceStep: 0.0001 } };
const TABLE: TakerFee = {
  kind: "value_table",
  buyPoints: [
    [0.5, 0.03],
    [0.6, 0.0213],
    [0.999, 0.004],
  ],
  sellPoints: [
    [0.01, 0.0042],
    [0.5, 0.015],
    [0.9, 0.0078],
  ],
};
const price = fc.integer({ min: 1, max: 999 }).map((steps) => steps / 1_000);
const fills = fc.array(
  fc.record({ price, contracts: fc.integer({ min: 0, max: 10_000 }).map((cents) => cents / 100) }),
);

test("known values: the venues' published fee examples", () => {
  assert.equal(takerFee(QUADRATIC, 0.5), 0.0175);
  assert.ok(Math.abs(takerFee(QUADRATIC, 0.9) - 0.0063) < 1e-15);
  assert.equal(takerFee({ kind: "quadratic", rate: 0.25, exponent: 2 }, 0.5), 0.015625);
  assert.equal(takerFee({ kind: "none" }, 0.5), 0);
  assert.equal(takerFee({ kind: "flat_value", rate: 0.004 }, 0.5), 0.002);
  assert.ok(Math.abs(takerFee(TABLE, 0.5) - 0.015 / 0.97) < 1e-15);
});

test("a share is interpolated linearly between the points of the table, and constant outside them", () => {
  const shareAt = (at: number) => {
    const fee = takerFee(TABLE, at);
    return fee / (at + fee);
  };
  for (const [at, share] of [
    [0.01, 0.03],
    [0.5, 0.03],
    [0.55, 0.02565],
    [0.6, 0.0213],
    [0.999, 0.004],
    [1, 0.004],
  ] as const)
    assert.ok(Math.abs(shareAt(at) - share) < 1e-12, `${at}: ${shareAt(at)}`);
});

test("known values: the fee is rounded up to 0.0001, and then the balance to a cent or to 0.0001", () => {
  // [price, contracts, fee of a direct member, fee of another member]
  for (const [at, contracts, direct, other] of [
    [0.5, 1, 0.0175, 0.02],
    [0.5, 100, 1.75, 1.75],
    // 0.07 × 4 × 0.063 × 0.937 = 0.01653; the order is worth 0.252, so the balance falls to -0.27.
    [0.063, 4, 0.0166, 0.018],
    // 0.07 × 1.5 × 0.37 × 0.63 = 0.024476; the order is worth 0.555.
    [0.37, 1.5, 0.0245, 0.025],
    [0.5, 0, 0, 0],
  ] as const) {
    const order = [{ price: at, contracts }];
    assert.deepEqual([orderFee(DIRECT, order), orderFee(OTHER, order)], [direct, other], `${contracts} at ${at}`);
  }
});

test("the fee at each price is rounded before the balance", () => {
  const order = [
    { price: 0.5, contracts: 1 },
    { price: 0.51, contracts: 1 },
  ];
  // 0.0175 and 0.017493, which is rounded to 0.0175; the order is worth 1.01.
  assert.equal(orderFee(DIRECT, order), 0.035);
  assert.equal(orderFee(OTHER, order), 0.04);
});

test("a sale pays the fee out of its proceeds, rounded to the trader's disadvantage", () => {
  const sale = [{ price: 0.063, contracts: 4 }];
  // 0.252 - 0.0166 = 0.2354, of which the balance gets 0.23.
  assert.deepEqual([orderFee(DIRECT, sale, "sell"), orderFee(OTHER, sale, "sell")], [0.0166, 0.022]);
  assert.equal(takerFee(TABLE, 0.5, "sell"), 0.0075);
  assert.equal(takerFee({ kind: "flat_value", rate: 0.004 }, 0.5, "sell"), 0.002);
});

const isMultiple = (usd: number, step: number) => Math.abs(usd / step - Math.round(usd / step)) < 1e-5;

test("the fee exceeds the exact fee by less than the sum of the rounding steps, and the balance is a multiple of its step", () => {
  fc.assert(
    fc.property(fills, fc.constantFrom(DIRECT, OTHER), fc.constantFrom("buy", "sell"), (list, fee, action) => {
      const { feeStep, balanceStep } = (fee as { rounding: { feeStep: number; balanceStep: number } }).rounding;
      const exact = orderFee(QUADRATIC, list, action);
      const rounded = orderFee(fee, list, action);
      assert.ok(rounded >= exact - 1e-7, `${rounded} is below ${exact}`);
      assert.ok(rounded < exact + list.length * feeStep + balanceStep);
      const value = list.reduce((sum, { price: at, contracts }) => sum + at * contracts, 0);
      assert.ok(isMultiple(action === "buy" ? value + rounded : value - rounded, balanceStep));
      assert.ok(Math.abs(orderFee(fee, list.toReversed(), action) - rounded) < 1e-7);
    }),
  );
});

test("the cost of an order grows with its contracts", () => {
  const count = fc.integer({ min: 0, max: 100_000 }).map((cents) => cents / 100);
  fc.assert(
    fc.property(price, count, count, fc.constantFrom(DIRECT, OTHER), (at, a, b, fee) => {
      const costOf = (contracts: number) => at * contracts + orderFee(fee, [{ price: at, contracts }]);
      assert.ok(costOf(Math.min(a, b)) <= costOf(Math.max(a, b)) + 1e-8);
    }),
  );
});

test("price plus fee increases with the price, so that the cheapest contract is also the cheapest after fees", () => {
  fc.assert(
    fc.property(fc.constantFrom(QUADRATIC, TABLE), price, price, (fee, a, b) => {
      const [low, high] = a < b ? [a, b] : [b, a];
      return low === high || low + takerFee(fee, low) < high + takerFee(fee, high);
    }),
  );
});

test("prices, contracts and tables outside their ranges are refused", () => {
  for (const bad of [-0.01, 1.01, Number.NaN]) assert.throws(() => takerFee(QUADRATIC, bad), RangeError);
  for (const contracts of [-1, Number.NaN, Infinity])
    assert.throws(() => orderFee(OTHER, [{ price: 0.5, contracts }]), RangeError);
  assert.throws(() => takerFee({ ...TABLE, buyPoints: [] }, 0.5), RangeError);
  assert.throws(() => takerFee({ ...TABLE, buyPoints: [[0.5, 1]] }, 0.5), RangeError);
});
