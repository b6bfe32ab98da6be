import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertNear } from "../../test/support/asserts/assert-near.ts";
import { edgeShrinkage, kellyFraction, positionShare } from "./kelly.ts";

const probability = fc.double({ min: 0, max: 1, noNaN: true });
const cost = fc.double({ min: 0.01, max: 0.99, noNaN: true });
const variance = fc.double({ min: 0, max: 0.1, noNaN: true });
const SIZING = { kellyShare: 0.25, positionMax: 0.1 };
/** Expected growth of the logarithm of wealth if a share of the bankroll below 1 buys contracts. */
const logGrowth = (p: number, c: number, share: number): number =>
  p * Math.log1p((share * (1 - c)) / c) + (1 - p) * Math.log1p(-share);

test("known values: the fraction of an even bet at 60% is 0.2; a variance equal to the squared edge halves the size", () => {
  assertNear(kellyFraction(0.6, 0.5), 0.2, 1e-12);
  assertNear(edgeShrinkage(0.1, 0.01), 0.5, 1e-12);
  assertNear(positionShare({ probability: 0.6, variance: 0.01, cost: 0.5 }, SIZING), 0.025, 1e-12);
});

test("closed form: for an even bet the fraction is 2p - 1", () => {
  for (const p of [0.5, 0.55, 0.7, 0.99]) assertNear(kellyFraction(p, 0.5), 2 * p - 1, 1e-12);
});

test("law: no other fraction grows faster than the Kelly fraction", () => {
  const fraction = fc.double({ min: 0, max: 0.999, noNaN: true });
  fc.assert(
    fc.property(fc.double({ min: 0, max: 0.999, noNaN: true }), cost, fraction, (p, c, other) => {
      assert.ok(logGrowth(p, c, kellyFraction(p, c)) >= logGrowth(p, c, other) - 1e-12);
    }),
  );
});

test("law: a position is 0 without an edge and at most the cap, and decreases as variance or cost grows", () => {
  fc.assert(
    fc.property(probability, cost, cost, variance, variance, (p, c, otherCost, v, otherVariance) => {
      const share = positionShare({ probability: p, variance: v, cost: c }, SIZING);
      assert.ok(share >= 0 && share <= 0.1);
      if (p <= c) assert.equal(share, 0);
      const [low, high] = v < otherVariance ? [v, otherVariance] : [otherVariance, v];
      const shareAt = (at: number, price = c) => positionShare({ probability: p, variance: at, cost: price }, SIZING);
      assert.ok(shareAt(low) >= shareAt(high) - 1e-12);
      const [cheap, dear] = c < otherCost ? [c, otherCost] : [otherCost, c];
      assert.ok(p <= cheap || shareAt(v, cheap) >= shareAt(v, dear) - 1e-12);
    }),
  );
});

test("refuses values outside their ranges", () => {
  assert.throws(() => kellyFraction(1.1, 0.5), RangeError);
  assert.throws(() => kellyFraction(0.5, 0), RangeError);
  assert.throws(() => kellyFraction(0.5, 1), RangeError);
  assert.throws(() => edgeShrinkage(Number.NaN, 0), RangeError);
  assert.throws(() => edgeShrinkage(0.1, -1), RangeError);
  const bet = { probability: 0.6, variance: 0, cost: 0.5 };
  for (const part of [{ kellyShare: 2 }, { positionMax: 0 }, { positionMax: 1.1 }])
    assert.throws(() => positionShare(bet, { ...SIZING, ...part }), RangeError);
});
