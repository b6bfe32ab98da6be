import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { percentileRank, weightedMean } from "./weighted.ts";

const pairs = fc.array(fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 0, max: 20 })), { maxLength: 40 });
const split = (list: readonly (readonly [number, number])[]) =>
  [list.map(([value]) => value), list.map(([, weight]) => weight)] as const;

test("known values: the mean of 1 (weight 2) and 4 (weight 1) is 2; 3 has percentile rank 62.5 among 1, 2, 3, 4", () => {
  assert.equal(weightedMean([1, 4], [2, 1]), 2);
  assert.equal(weightedMean([1, 4], [0.5, 0.25]), 2);
  assert.equal(percentileRank(3, [1, 2, 3, 4], [1, 1, 1, 1]), 62.5);
});

test("a weight of n counts as n values of weight 1", () => {
  fc.assert(
    fc.property(pairs, fc.integer({ min: -50, max: 50 }), (list, value) => {
      const [values, weights] = split(list);
      const repeated = list.flatMap(([entry, weight]) => Array.from({ length: weight }, () => entry));
      const ones = repeated.map(() => 1);
      const isNear = (a: number | null, b: number | null) =>
        a === null || b === null ? a === b : Math.abs(a - b) < 1e-9;
      return (
        isNear(weightedMean(values, weights), weightedMean(repeated, ones)) &&
        isNear(percentileRank(value, values, weights), percentileRank(value, repeated, ones))
      );
    }),
  );
});

test("the mean lies between the smallest and the largest value, and the rank rises with the value", () => {
  fc.assert(
    fc.property(pairs, fc.integer({ min: -50, max: 50 }), (list, value) => {
      const [values, weights] = split(list);
      const mean = weightedMean(values, weights);
      if (mean === null) return weights.every((weight) => weight === 0);
      assert.ok(mean >= Math.min(...values) - 1e-9 && mean <= Math.max(...values) + 1e-9);
      const rank = percentileRank(value, values, weights) ?? -1;
      return rank >= 0 && rank <= 100 && rank <= (percentileRank(value + 1, values, weights) ?? -1);
    }),
  );
});

test("without weight there is no mean and no rank", () => {
  assert.equal(weightedMean([], []), null);
  assert.equal(percentileRank(1, [1], [0]), null);
});

test("lists of different lengths and negative weights are refused", () => {
  assert.throws(() => weightedMean([1], []), RangeError);
  assert.throws(() => weightedMean([1], [-1]), RangeError);
  assert.throws(() => percentileRank(1, [1], [Number.NaN]), RangeError);
});
