import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertNear } from "../../test/support/asserts/assert-near.ts";
import { conditionalProbability, jointProbability } from "./joint-probability.ts";
import { normalCdf, normalQuantile } from "./normal.ts";

const probability = fc.double({ min: 0, max: 1, noNaN: true });
const correlation = fc.double({ min: -1, max: 1, noNaN: true });

test("known values: the normal distribution function and its quantile function equal published values", () => {
  assertNear(normalCdf(0), 0.5, 1e-15);
  assertNear(normalCdf(1.959963984540054), 0.975, 1e-14);
  assertNear(normalCdf(-8) / 6.220960574271786e-16, 1, 1e-6);
  assertNear(normalQuantile(0.975), 1.959963984540054, 1e-11);
  assertNear(normalQuantile(1e-12), -7.034483825, 1e-6);
});

test("law: the quantile is the inverse of the distribution function, and both are symmetric", () => {
  fc.assert(
    fc.property(fc.double({ min: -8, max: 8, noNaN: true }), (x) => {
      assertNear(normalCdf(x) + normalCdf(-x), 1, 1e-14);
      if (x < 5) assertNear(normalQuantile(normalCdf(x)), x, 1e-8);
    }),
  );
});

test("closed form: for two events of 50%, P(both) = 1/4 + arcsin(rho) / (2 pi)", () => {
  for (const rho of [-0.999, -0.9, -0.3, 0, 0.5, 0.7, 0.99, 0.9999])
    assertNear(jointProbability(0.5, 0.5, rho), 0.25 + Math.asin(rho) / (2 * Math.PI));
});

test("closed form: P(both) is p q if independent, min(p, q) at correlation 1, and max(0, p + q - 1) at -1", () => {
  assertNear(jointProbability(0.3, 0.6, 0), 0.18);
  assert.equal(jointProbability(0.3, 0.6, 1), 0.3);
  assertNear(jointProbability(0.3, 0.6, -1), 0);
  assertNear(jointProbability(0.7, 0.6, -1), 0.3);
});

test("law: the joint probability is symmetric, grows with the correlation, and P(A, B) + P(A, not B) = P(A)", () => {
  fc.assert(
    fc.property(probability, probability, correlation, correlation, (p, q, a, b) => {
      const joint = jointProbability(p, q, a);
      assertNear(joint, jointProbability(q, p, a));
      assertNear(joint + jointProbability(p, 1 - q, -a), p, 1e-8);
      const [low, high] = a < b ? [a, b] : [b, a];
      assert.ok(jointProbability(p, q, low) <= jointProbability(p, q, high) + 1e-9);
    }),
  );
});

test("law: the conditional probabilities satisfy the law of total probability", () => {
  fc.assert(
    fc.property(probability, probability, correlation, (p, q, rho) => {
      const { ifYes, ifNo } = conditionalProbability(p, q, jointProbability(p, q, rho));
      assertNear(q * (ifYes ?? 0) + (1 - q) * (ifNo ?? 0), p, 1e-9);
      assert.equal(ifYes === null, q === 0);
      assert.equal(ifNo === null, q === 1);
    }),
  );
});

test("refuses values outside their ranges", () => {
  assert.throws(() => normalCdf(Number.NaN), RangeError);
  assert.throws(() => normalQuantile(1.1), RangeError);
  assert.throws(() => jointProbability(-0.1, 0.5, 0), RangeError);
  assert.throws(() => jointProbability(0.5, 0.5, 1.5), RangeError);
  assert.throws(() => conditionalProbability(0.3, 0.3, 0.4), RangeError);
});
