import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertNear } from "../../../test/support/asserts/assert-near.ts";
import { bestHedge, expectedShortfall, lossDistribution } from "./expected-shortfall.ts";

test("known value: the expected shortfall is the mean of the worst 5%; the outcome at the boundary counts in part", () => {
  const losses = Float64Array.of(-10, 100, 50);
  assertNear(
    expectedShortfall(lossDistribution(losses, Float64Array.of(0.9, 0.02, 0.08))),
    (0.02 * 100 + 0.03 * 50) / 0.05,
    1e-12,
  );
  assertNear(expectedShortfall(lossDistribution(losses, Float64Array.of(0.2, 0.7, 0.1))), 100, 1e-12);
});

test("closed form: the opposite contract makes the loss the same in every outcome", () => {
  // 100 contracts at 0.6 lose 60 or gain 40. 100 opposite contracts at 0.4 equalise both outcomes at 0.
  const distribution = lossDistribution(Float64Array.of(-40, 60), Float64Array.of(0.6, 0.4));
  const { stake, reduction } = bestHedge(distribution, { wins: Uint8Array.of(0, 1), cost: 0.4 }, 1_000);
  assertNear(stake, 40, 1e-6);
  assertNear(reduction, 60, 1e-6);
});

test("brute force: no stake on a grid has a smaller expected shortfall, and the stake is at most its bound", () => {
  const outcome = fc.record({
    loss: fc.double({ min: -100, max: 100, noNaN: true }),
    wins: fc.boolean(),
    weight: fc.double({ min: 0.001, max: 1, noNaN: true }),
  });
  const cost = fc.double({ min: 0.05, max: 0.95, noNaN: true });
  fc.assert(
    fc.property(fc.array(outcome, { minLength: 1, maxLength: 60 }), cost, (outcomes, price) => {
      const total = outcomes.reduce((sum, { weight }) => sum + weight, 0);
      const weights = Float64Array.from(outcomes, ({ weight }) => weight / total);
      const losses = Float64Array.from(outcomes, ({ loss }) => loss);
      const wins = Uint8Array.from(outcomes, (each) => Number(each.wins));
      const hedged = (stake: number) =>
        expectedShortfall(
          lossDistribution(
            losses.map((loss, index) => loss + (wins[index] === 1 ? -stake * (1 / price - 1) : stake)),
            weights,
          ),
        );
      const { stake, reduction } = bestHedge(lossDistribution(losses, weights), { wins, cost: price }, 50);
      assert.ok(stake >= 0 && stake <= 50 && reduction >= 0);
      assertNear(hedged(0) - hedged(stake), reduction, 1e-6);
      for (let step = 0; step <= 100; step++) assert.ok(hedged(step / 2) >= hedged(stake) - 1e-6);
    }),
  );
});

test("a contract that pays only when the portfolio gains is not a hedge", () => {
  const distribution = lossDistribution(Float64Array.of(-40, 60), Float64Array.of(0.6, 0.4));
  assert.deepEqual(bestHedge(distribution, { wins: Uint8Array.of(1, 0), cost: 0.6 }, 100), { stake: 0, reduction: 0 });
});
