import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { TakerFee } from "../domain/market.ts";
import { orderFee, takerFee } from "./taker-fee.ts";

const QUADRATIC: TakerFee = { kind: "quadratic", rate: 0.07, exponent: 1 };
const CENTS: TakerFee = { ...QUADRATIC, roundsUpTo: 0.01 };
const TABLE: TakerFee = {
  kind: "value_table",
  buyPoints: [
    [0.5, 0.03],
    [0.6, 0.0213],
    [0.999, 0.004],
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

test("a share is that of the point at the price, between two points on the line, and constant outside", () => {
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

test("an order's fee is rounded up to the next cent, and an exact amount stays", () => {
  const feeOf = (contracts: number, at = 0.5) => orderFee(CENTS, [{ price: at, contracts }]);
  assert.deepEqual([feeOf(1), feeOf(4), feeOf(100), feeOf(100, 0.9), feeOf(0)], [0.02, 0.07, 1.75, 0.63, 0]);
});

test("rounding adds less than one step, and the order of the fills does not matter", () => {
  fc.assert(
    fc.property(fills, (list) => {
      const exact = orderFee(QUADRATIC, list);
      const rounded = orderFee(CENTS, list);
      assert.ok(rounded >= exact - 1e-8 && rounded < exact + 0.01);
      assert.ok(Math.abs(rounded * 100 - Math.round(rounded * 100)) < 1e-9);
      assert.equal(orderFee(CENTS, list.toReversed()), rounded);
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
    assert.throws(() => orderFee(CENTS, [{ price: 0.5, contracts }]), RangeError);
  assert.throws(() => takerFee({ kind: "value_table", buyPoints: [] }, 0.5), RangeError);
  assert.throws(() => takerFee({ kind: "value_table", buyPoints: [[0.5, 1]] }, 0.5), RangeError);
});
