import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sigmoid } from "../src/lib/numbers.ts";
import { fitLogistic } from "./logistic.ts";

const assertClose = (actual: number, expected: number, tolerance = 1e-6) =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} is not ${expected}`);

function createExamples(counts: readonly (readonly [x: number, outcome: number, count: number])[]) {
  const examples = counts.flatMap(([x, outcome, count]) => Array.from({ length: count }, () => [x, outcome] as const));
  return { inputs: examples.map(([x]) => [x]), outcomes: examples.map(([, outcome]) => outcome) };
}

test("without features, the intercept is the log-odds of the share of positive outcomes", () => {
  const outcomes = [1, 1, 1, 0];
  const { intercept, weights } = fitLogistic(
    outcomes.map(() => []),
    outcomes,
    0.3,
  );
  assertClose(intercept, Math.log(3));
  assert.deepEqual(weights, []);
});

test("with one binary feature and no penalty, the weight is the logarithm of the odds ratio", () => {
  // Doll and Hill (1950), men. Lung cancer: 647 smokers and 2 non-smokers. Controls: 622 smokers and 27 non-smokers.
  const { inputs, outcomes } = createExamples([
    [1, 1, 647],
    [0, 1, 2],
    [1, 0, 622],
    [0, 0, 27],
  ]);
  const { intercept, weights } = fitLogistic(inputs, outcomes, 0);
  assertClose(weights[0] ?? 0, Math.log((647 * 27) / (622 * 2)), 1e-4);
  assertClose(intercept, Math.log(2 / 27), 1e-4);
});

test("the gradient of the penalised log-likelihood is zero at the fitted coefficients", () => {
  const example = fc.record({
    input: fc.tuple(fc.double({ min: -2, max: 2, noNaN: true }), fc.double({ min: -2, max: 2, noNaN: true })),
    outcome: fc.constantFrom(0, 1),
  });
  fc.assert(
    fc.property(fc.array(example, { minLength: 4, maxLength: 30 }), (examples) => {
      const outcomes = examples.map(({ outcome }) => outcome);
      fc.pre(outcomes.includes(0) && outcomes.includes(1));
      const ridge = 0.5;
      const { intercept, weights } = fitLogistic(
        examples.map(({ input }) => input),
        outcomes,
        ridge,
      );
      const residuals = examples.map(({ input, outcome }) => {
        const score = intercept + input.reduce((sum, value, index) => sum + value * (weights[index] ?? 0), 0);
        return outcome - sigmoid(score);
      });
      const dot = (values: readonly number[]) =>
        values.reduce((sum, value, index) => sum + value * (residuals[index] ?? 0), 0);
      assertClose(dot(examples.map(() => 1)), 0, 1e-5);
      for (const feature of [0, 1] as const)
        assertClose(dot(examples.map(({ input }) => input[feature])), ridge * (weights[feature] ?? 0), 1e-5);
    }),
  );
});

test("a larger penalty gives smaller weights, also for separable data", () => {
  const { inputs, outcomes } = createExamples([
    [0, 0, 5],
    [1, 1, 5],
  ]);
  const weightAt = (ridge: number) => fitLogistic(inputs, outcomes, ridge).weights[0] ?? Number.NaN;
  assert.ok(weightAt(10) < weightAt(1));
  assert.ok(weightAt(1) < weightAt(0.1));
  assert.ok(weightAt(10) > 0);
});

test("an offset is added to the log-odds with the weight 1, with and without an intercept", () => {
  const { inputs, outcomes } = createExamples([
    [1, 1, 60],
    [1, 0, 20],
  ]);
  const offsets = outcomes.map(() => Math.log(2));
  const without = fitLogistic(inputs, outcomes, 0, { offsets, hasIntercept: false });
  assert.equal(without.intercept, 0);
  assertClose(without.weights[0] ?? 0, Math.log(3) - Math.log(2));
  assertClose(
    fitLogistic(
      outcomes.map(() => []),
      outcomes,
      0,
      { offsets },
    ).intercept,
    Math.log(1.5),
  );
});

test("empty data and data with only one outcome are rejected", () => {
  assert.throws(() => fitLogistic([[1], [2]], [1, 1], 1), /both outcomes must occur/);
  assert.throws(() => fitLogistic([], [], 1), /both outcomes must occur/);
});
