import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { brierScore, calibrationBins, calibrationError, type Scored, scoreAt } from "./metrics.ts";

const pair = (probability: number, isSame: boolean): Scored => ({ probability, isSame });

const PAIRS = [pair(0.9, true), pair(0.8, true), pair(0.8, false), pair(0.4, true), pair(0.1, false)];

test("computes precision, recall and F1 of the pairs at or above a threshold", () => {
  assert.deepEqual(scoreAt(PAIRS, 0.8), { n: 5, precision: 2 / 3, recall: 2 / 3, f1: 2 / 3 });
  assert.deepEqual(scoreAt(PAIRS, 0.85), { n: 5, precision: 1, recall: 1 / 3, f1: 0.5 });
});

test("a score whose denominator is 0 is null", () => {
  assert.deepEqual(scoreAt([], 0.5), { n: 0, precision: null, recall: null, f1: null });
  assert.deepEqual(scoreAt([pair(0.1, true)], 0.5), { n: 1, precision: null, recall: 0, f1: 0 });
  assert.deepEqual(scoreAt([pair(0.9, false)], 0.5), { n: 1, precision: 0, recall: null, f1: 0 });
  assert.deepEqual(scoreAt([pair(0.1, false)], 0.5), { n: 1, precision: null, recall: null, f1: null });
});

test("the Brier score is the mean squared error", () => {
  assert.equal(brierScore([pair(0.5, true), pair(0, false)]), 0.125);
  assert.equal(brierScore([]), null);
});

test("the calibration error weighs each bin by its size", () => {
  // Bin 0.8 to 0.9: mean 0.8, share 0.5. Bin 0.2 to 0.3: mean 0.25, share 0.
  const pairs = [pair(0.8, true), pair(0.8, false), pair(0.25, false)];
  assert.ok(Math.abs((calibrationError(pairs) ?? 0) - (2 * 0.3 + 0.25) / 3) < 1e-12);
  assert.equal(calibrationError([]), null);
});

test("perfect forecasts of 0 and 1 have no error, and 1 is in the last bin", () => {
  const pairs = [pair(1, true), pair(0, false)];
  assert.equal(calibrationError(pairs), 0);
  assert.deepEqual(
    calibrationBins(pairs).map(({ lower, upper, n }) => [lower, upper, n]),
    [
      [0, 0.1, 1],
      [0.9, 1, 1],
    ],
  );
});

test("each pair is in one bin, and F1 is the harmonic mean of precision and recall", () => {
  const scored = fc.record({ probability: fc.double({ min: 0, max: 1, noNaN: true }), isSame: fc.boolean() });
  fc.assert(
    fc.property(fc.array(scored, { maxLength: 30 }), fc.double({ min: 0, max: 1, noNaN: true }), (pairs, threshold) => {
      assert.equal(
        calibrationBins(pairs).reduce((sum, { n }) => sum + n, 0),
        pairs.length,
      );
      const { precision, recall, f1 } = scoreAt(pairs, threshold);
      if (precision !== null && recall !== null && precision + recall > 0)
        assert.ok(Math.abs((f1 ?? 0) - (2 * precision * recall) / (precision + recall)) < 1e-12);
    }),
  );
});
