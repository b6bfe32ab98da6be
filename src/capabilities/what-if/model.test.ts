import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { condition, contradictionOf, DEPENDENCES } from "./model.ts";

const probability = fc.double({ min: 0.001, max: 0.999, noNaN: true });
const near = (actual: number | null, expected: number) => assert.ok(Math.abs((actual ?? -1) - expected) < 1e-9);

test("law: the conditional probabilities are in [0, 1] and average to the probability, whatever the dependence", () => {
  const rho = fc.double({ min: -1, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.constantFrom(...DEPENDENCES), probability, probability, rho, (dependence, p, q, correlation) => {
      const { ifTrue, ifFalse } = condition(dependence, p, q, correlation);
      if (dependence === "unknown") return assert.deepEqual([ifTrue, ifFalse], [null, null]);
      assert.ok(ifTrue !== null && ifFalse !== null);
      for (const value of [ifTrue, ifFalse]) assert.ok(value >= 0 && value <= 1);
      near(q * ifTrue + (1 - q) * ifFalse, p);
    }),
  );
});

test("law: without a contradiction, the conditional probabilities are those that logic requires", () => {
  fc.assert(
    fc.property(probability, probability, (p, q) => {
      const [low, high] = p < q ? [p, q] : [q, p];
      near(condition("same", p, p, null).ifTrue, 1);
      near(condition("same", p, p, null).ifFalse, 0);
      near(condition("opposite", 1 - q, q, null).ifTrue, 0);
      near(condition("opposite", 1 - q, q, null).ifFalse, 1);
      near(condition("implies", high, low, null).ifTrue, 1);
      near(condition("implied", low, high, null).ifFalse, 0);
      near(condition("exclusive", p * (1 - q), q, null).ifTrue, 0);
    }),
  );
});

test("known values of the contradiction: 0 where both probabilities can be right", () => {
  const values = DEPENDENCES.map((dependence) => contradictionOf(dependence, 0.75, 0.5));
  assert.deepEqual(values, [0.25, 0.25, 0.25, 0, 0.25, 0, 0]);
  assert.equal(contradictionOf("implies", 0.5, 0.75), 0.25);
  assert.equal(contradictionOf("exclusive", 0.5, 0.25), 0);
});
