import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { kellyFraction } from "../../quant/kelly.ts";
import { type GrowthProblem, growthOptimum } from "./growth-optimum.ts";

const growth = ({ wealth, gain, weights }: GrowthProblem, stake: number) =>
  weights.reduce((sum, weight, index) => sum + weight * Math.log((wealth[index] ?? 0) + stake * (gain[index] ?? 0)), 0);
const share = fc.double({ min: 0.01, max: 0.99, noNaN: true });

test("closed form: a single bet gets the Kelly fraction", () => {
  fc.assert(
    fc.property(share, share, (probability, cost) => {
      const problem = {
        wealth: Float64Array.of(1, 1),
        gain: Float64Array.of(1 / cost - 1, -1),
        weights: Float64Array.of(probability, 1 - probability),
      };
      assert.ok(Math.abs(growthOptimum(problem, 1) - kellyFraction(probability, cost)) < 1e-8);
    }),
  );
});

test("brute force: no stake on a fine grid around the optimum or over the whole range grows faster", () => {
  const outcome = fc.record({
    wealth: fc.double({ min: 0.2, max: 3, noNaN: true }),
    isWin: fc.boolean(),
    weight: fc.double({ min: 0.01, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(outcome, { minLength: 2, maxLength: 40 }), share, share, (outcomes, cost, max) => {
      const total = outcomes.reduce((sum, { weight }) => sum + weight, 0);
      const problem = {
        wealth: Float64Array.from(outcomes, ({ wealth }) => wealth),
        gain: Float64Array.from(outcomes, ({ isWin }) => (isWin ? 1 / cost - 1 : -1)),
        weights: Float64Array.from(outcomes, ({ weight }) => weight / total),
      };
      const stake = growthOptimum(problem, max);
      assert.ok(stake >= 0 && stake <= max);
      // Ternary search is the independent method: it compares values and uses no derivative.
      let [low, high] = [0, Math.min(max, ...outcomes.flatMap(({ isWin, wealth }) => (isWin ? [] : [wealth])))];
      for (let step = 0; step < 200; step++) {
        const [left, right] = [low + (high - low) / 3, high - (high - low) / 3];
        if (growth(problem, left) < growth(problem, right)) low = left;
        else high = right;
      }
      assert.ok(Math.abs(growth(problem, stake) - growth(problem, (low + high) / 2)) < 1e-10);
      for (let step = 0; step <= 1_000; step++) {
        const other = growth(problem, (max * step) / 1_000);
        assert.ok(!(other > growth(problem, stake) + 1e-12));
      }
      assert.ok(Math.abs(stake - (low + high) / 2) < 1e-6);
    }),
  );
});

test("throws a RangeError for a negative bound, arrays of different lengths, and outcomes without wealth", () => {
  const problem = { wealth: Float64Array.of(1, 1), gain: Float64Array.of(1, -1), weights: Float64Array.of(0.6, 0.4) };
  assert.throws(() => growthOptimum(problem, -1), RangeError);
  assert.throws(() => growthOptimum(problem, Number.NaN), RangeError);
  assert.throws(() => growthOptimum({ ...problem, weights: Float64Array.of(1) }, 1), RangeError);
  assert.throws(() => growthOptimum({ ...problem, wealth: Float64Array.of(1, 0) }, 1), RangeError);
});
