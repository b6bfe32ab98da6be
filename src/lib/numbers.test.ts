import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { clamp, logit, sigmoid, sumOf } from "./numbers.ts";

test("a clamped value is within the bounds, a value within the bounds is unchanged, and NaN stays NaN", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true }), fc.double({ min: -10, max: 10, noNaN: true }), (value, bound) => {
      const [low, high] = [-Math.abs(bound), Math.abs(bound)];
      const clamped = clamp(value, low, high);
      assert.ok(clamped >= low && clamped <= high);
      if (value >= low && value <= high) assert.equal(clamped, value);
    }),
  );
  assert.ok(Number.isNaN(clamp(Number.NaN, 0, 1)));
});

test("sigmoid is the inverse of logit, and both have their known values", () => {
  assert.equal(sigmoid(0), 0.5);
  assert.ok(Math.abs(logit(0.75) - Math.log(3)) < 1e-15);
  assert.deepEqual([logit(0), logit(1)], [-Infinity, Infinity]);
  fc.assert(
    fc.property(fc.double({ min: 0.001, max: 0.999, noNaN: true }), (p) => Math.abs(sigmoid(logit(p)) - p) < 1e-12),
  );
});

test("the sum of no values is 0", () => {
  assert.equal(sumOf([]), 0);
  assert.equal(sumOf(new Set([1, 2, 3.5])), 6.5);
});
