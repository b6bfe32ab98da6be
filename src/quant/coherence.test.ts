import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sumOf } from "../lib/numbers.ts";
import { isotonicRegression, removeOverround } from "./coherence.ts";

const price = fc.double({ min: 0.01, max: 0.99, noNaN: true });

test("known values: the probabilities of three prices that sum to 1.25, and the fit of three prices in the wrong order", () => {
  const probabilities = removeOverround([0.5, 0.5, 0.25], 1).map((value) => Number(value.toFixed(4)));
  assert.deepEqual(probabilities, [0.4142, 0.4142, 0.1716]);
  assert.deepEqual(isotonicRegression([0.2, 0.4, 0.1], [1, 1, 1]), [0.30000000000000004, 0.30000000000000004, 0.1]);
});

test("closed form: n equal prices become 1 / n each, for every sum", () => {
  for (const q of [0.1, 0.4, 0.9])
    for (const probability of removeOverround([q, q, q, q], 1)) assert.ok(Math.abs(probability - 0.25) < 1e-12);
});

test("law: the probabilities have the required sum and keep the order of the prices", () => {
  fc.assert(
    fc.property(fc.array(price, { minLength: 2, maxLength: 12 }), (prices) => {
      const probabilities = removeOverround(prices, 1);
      assert.ok(Math.abs(sumOf(probabilities) - 1) < 1e-9);
      for (const [i, a] of prices.entries())
        for (const [j, b] of prices.entries()) if (a < b) assert.ok((probabilities[i] ?? 1) <= (probabilities[j] ?? 0));
    }),
  );
});

test("law: the fit never increases, keeps the weighted sum, and is no further than the input from any such sequence", () => {
  const weighted = fc.tuple(price, fc.double({ min: 0.1, max: 10, noNaN: true }), price);
  fc.assert(
    fc.property(fc.array(weighted, { minLength: 1, maxLength: 12 }), (rows) => {
      const values = rows.map(([value]) => value);
      const weights = rows.map(([, weight]) => weight);
      const truth = rows.map(([, , value]) => value).sort((a, b) => b - a);
      const fit = isotonicRegression(values, weights);
      for (let index = 1; index < fit.length; index++) assert.ok((fit[index] ?? 1) <= (fit[index - 1] ?? 0) + 1e-12);
      const dot = (list: readonly number[]) => sumOf(list.map((value, index) => value * (weights[index] ?? 0)));
      assert.ok(Math.abs(dot(fit) - dot(values)) < 1e-9);
      const distance = (list: readonly number[]) => dot(list.map((value, index) => (value - (truth[index] ?? 0)) ** 2));
      assert.ok(distance(fit) <= distance(values) + 1e-9);
    }),
  );
});

test("refuses prices outside [0, 1], a total that cannot be reached, and weights that are not above 0", () => {
  assert.throws(() => removeOverround([1.1, 0.2], 1), RangeError);
  assert.throws(() => removeOverround([0.5], 1), RangeError);
  assert.throws(() => removeOverround([0.5, 0.5], 0), RangeError);
  assert.throws(() => isotonicRegression([0.5], [0]), RangeError);
  assert.throws(() => isotonicRegression([0.5], []), RangeError);
});
