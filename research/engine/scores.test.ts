import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertNear } from "../../test/support/asserts/assert-near.ts";
import { compareWithPrices, decomposeBrierScore, type Forecast } from "./scores.ts";

const forecast = fc.record({
  group: fc.constantFrom("a", "b", "c"),
  probability: fc.double({ min: 0, max: 1, noNaN: true }),
  market: fc.double({ min: 0, max: 1, noNaN: true }),
  outcome: fc.constantFrom(0, 1),
});

test("correct forecasts of 0.8 and 0.2 have a Brier score of 0.04, compared with prices of 0.5", () => {
  const result = compareWithPrices([
    { group: "a", probability: 0.8, market: 0.5, outcome: 1 },
    { group: "b", probability: 0.2, market: 0.5, outcome: 0 },
  ]);
  assertNear(result.brier ?? 0, 0.04);
  assertNear(result.marketBrier ?? 0, 0.25);
  assertNear(result.diff?.value ?? 0, -0.21);
  assertNear(result.logScore ?? 0, -Math.log(0.8));
  assert.equal(result.groups, 2);
});

test("the parts of the decomposition add up to the Brier score", () => {
  fc.assert(
    fc.property(fc.array(forecast, { minLength: 1, maxLength: 60 }), (forecasts) => {
      const parts = decomposeBrierScore(forecasts);
      assert.ok(parts !== null);
      const { reliability, resolution, uncertainty, withinBins } = parts;
      assertNear(reliability - resolution + uncertainty + withinBins, compareWithPrices(forecasts).brier ?? Number.NaN);
    }),
  );
});

test("the within-bins term is 0 if all probabilities of a bin are equal", () => {
  const forecasts = [0, 0, 1].map((outcome): Forecast => ({ group: "a", probability: 0.4, market: 0.5, outcome }));
  const parts = decomposeBrierScore(forecasts);
  assertNear(parts?.reliability ?? 0, (0.4 - 1 / 3) ** 2);
  assertNear(parts?.resolution ?? 1, 0);
  assertNear(parts?.uncertainty ?? 0, 2 / 9);
  assertNear(parts?.withinBins ?? 1, 0);
});

test("scores are null without forecasts", () => {
  assert.deepEqual(compareWithPrices([]), {
    n: 0,
    groups: 0,
    brier: null,
    marketBrier: null,
    logScore: null,
    marketLogScore: null,
    diff: null,
  });
  assert.equal(decomposeBrierScore([]), null);
});
