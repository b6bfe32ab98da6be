import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertNear } from "../../test/support/asserts/assert-near.ts";
import { liquidityScore, spreadTightness, usdScale } from "./liquidity.ts";

const spread = fc.double({ min: 0, max: 1, noNaN: true });
const usd = fc.double({ min: 0, max: 1e9, noNaN: true });

test("known values: a spread of 2 cents and $999 a day score 40 + 25", () => {
  assertNear(spreadTightness(0.02), 0.8, 1e-12);
  assertNear(usdScale(999), 0.5, 1e-12);
  assertNear(liquidityScore(0.02, 999), 65, 1e-12);
});

test("closed form: no spread and a million dollars score 100; a spread of 10 cents and no volume score 0", () => {
  assertNear(liquidityScore(0, 1e6), 100, 1e-12);
  assert.equal(liquidityScore(0.1, 0), 0);
  assert.equal(liquidityScore(0.5, 0), 0);
});

test("the score stays in [0, 100], falls with the spread and rises with the volume", () => {
  fc.assert(
    fc.property(spread, spread, usd, usd, (a, b, x, y) => {
      const score = liquidityScore(a, x);
      assert.ok(score >= 0 && score <= 100);
      assert.ok(liquidityScore(Math.max(a, b), x) <= liquidityScore(Math.min(a, b), x));
      assert.ok(liquidityScore(a, Math.max(x, y)) >= liquidityScore(a, Math.min(x, y)));
    }),
  );
});

test("amounts that are negative or not finite are refused", () => {
  for (const wrong of [-0.01, Number.NaN, Infinity]) {
    assert.throws(() => liquidityScore(wrong, 1), RangeError);
    assert.throws(() => liquidityScore(0.01, wrong), RangeError);
  }
});
