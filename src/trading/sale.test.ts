import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sell } from "./sale.ts";

const NO_FEE = { kind: "none" } as const;
const BIDS = [
  { price: 0.5, size: 10 },
  { price: 0.4, size: 10 },
];

test("sells to the highest bid first, and at most the size of the bids", () => {
  assert.deepEqual(sell(BIDS, NO_FEE, 15), {
    contracts: 15,
    averagePrice: 7 / 15,
    worstPrice: 0.4,
    feeUsd: 0,
    proceedsUsd: 7,
  });
  assert.equal(sell(BIDS, NO_FEE, 25)?.contracts, 20);
  assert.equal(sell([], NO_FEE, 5), null);
});

test("the fee of the order is rounded up and lowers the proceeds", () => {
  const fee = { kind: "quadratic", rate: 0.07, exponent: 1, rounding: { feeStep: 0.0001, balanceStep: 0.01 } } as const;
  assert.deepEqual(sell(BIDS, fee, 1), {
    contracts: 1,
    averagePrice: 0.5,
    worstPrice: 0.5,
    feeUsd: 0.02,
    proceedsUsd: 0.48,
  });
});

test("the fee is that of a sale, even if the venue charges a different fee for purchases", () => {
  const fee = { kind: "value_table", buyPoints: [[0.5, 0.03]], sellPoints: [[0.5, 0.015]] } as const;
  assert.equal(sell(BIDS, fee, 1)?.feeUsd, 0.0075);
});

test("law: more contracts never pay more per contract", () => {
  const count = fc.integer({ min: 1, max: 20 });
  fc.assert(
    fc.property(count, count, (a, b) => {
      const [few, many] = [sell(BIDS, NO_FEE, Math.min(a, b)), sell(BIDS, NO_FEE, Math.max(a, b))];
      assert.ok((few?.averagePrice ?? 0) >= (many?.averagePrice ?? 1) - 1e-12);
    }),
  );
});
