import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertNear } from "../../../../test/support/asserts/assert-near.ts";
import { conditionalProbabilities, LOGICAL_RELATIONS, outcomeCorrelation } from "./index.ts";

const probability = fc.double({ min: 0, max: 1, noNaN: true });
const rho = fc.double({ min: -1, max: 1, noNaN: true });
const given = (dependence: (typeof LOGICAL_RELATIONS)[number] | null, p: number, q: number, correlation = 0) =>
  conditionalProbabilities({ dependence, correlation }, p, q);

test("law: a probability that a logical dependence determines is exactly 0 or 1, for any two probabilities", () => {
  fc.assert(
    fc.property(probability, probability, (p, q) => {
      assert.deepEqual(given("same", p, q), { ifYes: 1, ifNo: 0 });
      assert.deepEqual(given("opposite", p, q), { ifYes: 0, ifNo: 1 });
      assert.equal(given("implies", p, q).ifYes, 1);
      assert.equal(given("implied", p, q).ifNo, 0);
      assert.equal(given("exclusive", p, q).ifYes, 0);
    }),
  );
});

test("law: conditional probabilities are in [0, 1], and average to a probability consistent with the dependence", () => {
  const any = fc.constantFrom(...LOGICAL_RELATIONS, null);
  fc.assert(
    fc.property(any, probability, probability, rho, (dependence, first, second, correlation) => {
      const [low, high] = first < second ? [first, second] : [second, first];
      const fitting: Readonly<Record<string, readonly [p: number, q: number]>> = {
        same: [low, low],
        opposite: [1 - low, low],
        implies: [high, low],
        implied: [low, high],
        exclusive: [first * (1 - second), second],
      };
      const [p, q] = fitting[dependence ?? ""] ?? [first, second];
      const { ifYes, ifNo } = given(dependence, p, q, correlation);
      for (const value of [ifYes, ifNo]) assert.ok(value === null || (value >= 0 && value <= 1));
      assertNear(q * (ifYes ?? 0) + (1 - q) * (ifNo ?? 0), p);
    }),
  );
});

test("conditional probabilities are null without a dependence and a correlation, and for a condition of probability 0", () => {
  const unknown = { ifYes: null, ifNo: null };
  assert.deepEqual(conditionalProbabilities({ dependence: null, correlation: null }, 0.5, 0.5), unknown);
  assert.deepEqual(given("implies", 1, 1), { ifYes: 1, ifNo: null });
  assert.deepEqual(given("exclusive", 0, 1), { ifYes: 0, ifNo: null });
  assert.deepEqual(given("implied", 0, 0), { ifYes: null, ifNo: 0 });
});

test("the answers of the same question have the correlation 1, of opposite questions -1, for any two probabilities", () => {
  assert.equal(outcomeCorrelation({ dependence: "same", correlation: null }, 0.5, 0.2), 1);
  assert.equal(outcomeCorrelation({ dependence: "opposite", correlation: null }, 0.5, 0.2), -1);
  assert.equal(outcomeCorrelation({ dependence: "same", correlation: null }, 0.5, 1), null);
});
