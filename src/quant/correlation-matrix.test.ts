import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cholesky, type Matrix, shrinkCorrelations } from "./correlation-matrix.ts";

const pair = (a: number, b: number, correlation: number | null, dataPoints = 721) => ({
  a,
  b,
  correlation,
  dataPoints,
});
const product = (factor: Matrix) =>
  factor.map((row) => factor.map((other) => row.reduce((sum, value, k) => sum + value * (other[k] ?? 0), 0)));

test("known value: the shrinkage is the sum of the variances divided by the sum of the squares", () => {
  const { matrix } = shrinkCorrelations(3, [pair(0, 1, 0.5), pair(0, 2, 0.1, 101)]);
  const expected = (0.75 ** 2 / 720 + 0.99 ** 2 / 100) / (0.25 + 0.01);
  assert.ok(Math.abs((matrix[1]?.[0] ?? 0) - (1 - expected) * 0.5) < 1e-12);
  assert.equal(matrix[1]?.[2], 0);
});

test("an unknown pair is uncorrelated, and a matrix without pairs is the identity", () => {
  const { matrix } = shrinkCorrelations(2, [pair(0, 1, null, 0)]);
  assert.deepEqual(
    matrix.map((row) => [...row]),
    [
      [1, 0],
      [0, 1],
    ],
  );
  assert.deepEqual(shrinkCorrelations(1, []).matrix, [Float64Array.of(1)]);
});

test("closed form: three variables cannot all have coefficients below -1/2, so -0.9 is shrunk to -1/2", () => {
  const { matrix } = shrinkCorrelations(3, [pair(0, 1, -0.9), pair(0, 2, -0.9), pair(1, 2, -0.9)]);
  assert.ok(Math.abs((matrix[0]?.[1] ?? 0) + 0.5) < 1e-5);
});

test("law: the diagonal is 1, the factor reproduces the matrix, and no coefficient is larger than measured", () => {
  const coefficient = fc.double({ min: -1, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.array(coefficient, { minLength: 15, maxLength: 15 }), (values) => {
      const pairs = values.map((value, index) => {
        const b = Math.floor((1 + Math.sqrt(1 + 8 * index)) / 2);
        return pair(index - (b * (b - 1)) / 2, b, value, 60);
      });
      const { matrix, factor } = shrinkCorrelations(6, pairs);
      for (const [row, values] of product(factor).entries())
        for (const [column, value] of values.entries())
          assert.ok(Math.abs(value - (matrix[row]?.[column] ?? Number.NaN)) < 1e-9);
      for (const { a, b, correlation } of pairs) {
        assert.ok(Math.abs(matrix[a]?.[b] ?? 2) <= Math.abs(correlation ?? 0) + 1e-12);
        assert.equal(matrix[a]?.[a], 1);
      }
    }),
  );
});

test("a matrix that is not positive definite has no factor, and a pair with an unknown variable is a RangeError", () => {
  assert.equal(cholesky([Float64Array.of(1, 1), Float64Array.of(1, 1)]), null);
  assert.throws(() => shrinkCorrelations(2, [pair(0, 2, 0.5)]), RangeError);
  assert.throws(() => shrinkCorrelations(2, [pair(1, 1, 0.5)]), RangeError);
});
