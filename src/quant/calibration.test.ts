import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertNear } from "../../test/support/asserts/assert-near.ts";
import {
  brierScore,
  brierSkillScore,
  expectedCalibrationError,
  logLoss,
  meanLogLoss,
  reliabilityBins,
  type ScoredForecast,
  squaredError,
  wilsonInterval,
} from "./calibration.ts";

const unit = fc.double({ min: 0, max: 1, noNaN: true });
const forecasts = fc.array(fc.record({ probability: unit, outcome: unit }), { maxLength: 60 });
const yesNo = fc.array(fc.record({ probability: unit, outcome: fc.constantFrom(0, 1) }), {
  minLength: 1,
  maxLength: 60,
});
const CLIP = 1e-4;

test("known values: Brier score, log loss and skill of two forecasts", () => {
  const list = [
    { probability: 0.8, outcome: 1 },
    { probability: 0.3, outcome: 0 },
  ];
  assertNear(brierScore(list), (0.04 + 0.09) / 2);
  assertNear(meanLogLoss(list, CLIP), -(Math.log(0.8) + Math.log(0.7)) / 2);
  assertNear(brierSkillScore(0.18, 0.2), 0.1);
  assertNear(squaredError(0.6, 0.5), 0.01);
});

test("known values: the Wilson interval of 0, 5 and 10 of 10, and of 1 of 1", () => {
  // Published for 95%: 0 of 10 has [0, 0.2775], 5 of 10 [0.2366, 0.7634], 1 of 1 [0.2065, 1].
  const cases = [
    [0, 10, 0, 0.2775],
    [0.5, 10, 0.2366, 0.7634],
    [1, 10, 0.7225, 1],
    [1, 1, 0.2065, 1],
  ] as const;
  for (const [share, count, low, high] of cases) {
    assertNear(wilsonInterval(share, count).low, low, 5e-5);
    assertNear(wilsonInterval(share, count).high, high, 5e-5);
  }
});

test("at each Wilson bound, the observed share is exactly 1.96 standard errors away", () => {
  fc.assert(
    fc.property(unit, fc.integer({ min: 1, max: 5_000 }), (share, count) => {
      const { low, high } = wilsonInterval(share, count);
      assert.ok(0 <= low && low <= share + 1e-12 && share - 1e-12 <= high && high <= 1);
      for (const bound of [low, high]) {
        if (bound === 0 || bound === 1) continue;
        assertNear((share - bound) ** 2, (1.959963984540054 ** 2 * bound * (1 - bound)) / count, 1e-9);
      }
    }),
  );
});

test("the Wilson interval narrows as the count grows, and a share of 1 - p has the mirrored interval", () => {
  fc.assert(
    fc.property(unit, fc.integer({ min: 1, max: 5_000 }), (share, count) => {
      const widthOf = (n: number) => wilsonInterval(share, n).high - wilsonInterval(share, n).low;
      const mirrored = wilsonInterval(1 - share, count);
      assertNear(mirrored.low, 1 - wilsonInterval(share, count).high, 1e-9);
      return widthOf(count + 1) <= widthOf(count) + 1e-12;
    }),
  );
});

/** Returns the forecasts, each in a separate group. */
const grouped = (list: readonly ScoredForecast[]) =>
  list.map(({ probability, outcome }, group) => ({ probability, outcome, group }));

test("the interval of a bin counts all forecasts of one group as a single observation", () => {
  const forecast = { probability: 0.25, outcome: 1 };
  const bins = reliabilityBins([1, 1, 1, 2].map((group) => ({ ...forecast, group })));
  assert.deepEqual([bins[2]?.count, bins[2]?.low, bins[2]?.high], [4, wilsonInterval(1, 2).low, 1]);
});

test("each forecast is in one bin, and each bin has the means of its own forecasts", () => {
  fc.assert(
    fc.property(forecasts, (list) => {
      const bins = reliabilityBins(grouped(list));
      assert.equal(bins.length, 10);
      assert.equal(
        bins.reduce((sum, { count }) => sum + count, 0),
        list.length,
      );
      for (const [index, bin] of bins.entries()) {
        assert.deepEqual([bin.lower, bin.upper], [index / 10, (index + 1) / 10]);
        const own = list.filter(({ probability: p }) => p * 10 >= index && (index === 9 || p * 10 < index + 1));
        assert.equal(bin.count, own.length);
        if (own.length === 0) {
          assert.deepEqual([bin.meanPredicted, bin.observedFrequency, bin.low, bin.high], [null, null, null, null]);
          continue;
        }
        assertNear(bin.meanPredicted, own.reduce((sum, { probability }) => sum + probability, 0) / own.length);
        assertNear(bin.observedFrequency, own.reduce((sum, { outcome }) => sum + outcome, 0) / own.length);
        assert.ok((bin.low ?? 1) <= (bin.observedFrequency ?? 0) + 1e-12);
        assert.ok((bin.high ?? 0) >= (bin.observedFrequency ?? 1) - 1e-12);
      }
    }),
  );
});

test("a probability on an edge belongs to the upper bin, and 1 to the last", () => {
  const counts = reliabilityBins(grouped([0, 0.1, 0.5, 0.9, 1].map((probability) => ({ probability, outcome: 1 }))));
  assert.deepEqual(
    counts.map(({ count }) => count),
    [1, 1, 0, 0, 0, 1, 0, 0, 0, 2],
  );
});

test("the calibration error is the distance in each bin weighted by its count, and 0 if the bins are exact", () => {
  const repeat = (probability: number, outcomes: readonly number[]) =>
    outcomes.map((outcome): ScoredForecast => ({ probability, outcome }));
  const right = [...repeat(0.25, [1, 0, 0, 0]), ...repeat(0.75, [1, 1, 1, 0])];
  assertNear(expectedCalibrationError(reliabilityBins(grouped(right))), 0);
  const wrong = [...repeat(0.25, [1, 1]), ...repeat(0.75, [1, 1, 1, 0, 1, 0])];
  assertNear(expectedCalibrationError(reliabilityBins(grouped(wrong))), (2 * 0.75 + 6 * (0.75 - 4 / 6)) / 8);
});

test("the calibration error is at most 1, and at least the difference of mean probability and mean outcome", () => {
  fc.assert(
    fc.property(yesNo, (list) => {
      const error = expectedCalibrationError(reliabilityBins(grouped(list))) ?? Number.NaN;
      const meanOf = (read: (forecast: ScoredForecast) => number) =>
        list.reduce((sum, forecast) => sum + read(forecast), 0) / list.length;
      assert.ok(error >= Math.abs(meanOf(({ probability }) => probability) - meanOf(({ outcome }) => outcome)) - 1e-9);
      assert.ok(error <= 1);
    }),
  );
});

test("both scores are proper: the probability with the smallest expected loss is the share of YES", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 1, max: 99 }), (percent, otherPercent) => {
      const [share, other] = [percent / 100, otherPercent / 100];
      for (const loss of [squaredError, (p: number, o: number) => logLoss(p, o, CLIP)]) {
        const expected = (p: number) => share * loss(p, 1) + (1 - share) * loss(p, 0);
        assert.ok(expected(share) <= expected(other) + 1e-12);
        // A fractional outcome has its smallest loss there, too.
        assert.ok(loss(share, share) <= loss(other, share) + 1e-12);
      }
    }),
  );
});

test("the log loss clips probabilities of 0 and 1, so that a wrong forecast has a finite loss", () => {
  assertNear(logLoss(0, 1, CLIP), -Math.log(CLIP));
  assertNear(logLoss(1, 0, CLIP), -Math.log(CLIP));
  assertNear(logLoss(1, 1, CLIP), -Math.log(1 - CLIP));
  assertNear(logLoss(0.5, 0.5, CLIP), Math.log(2));
});

test("scores are null without forecasts, and the skill is null if the reference is perfect", () => {
  assert.equal(brierScore([]), null);
  assert.equal(meanLogLoss([], CLIP), null);
  assert.equal(expectedCalibrationError(reliabilityBins([])), null);
  assert.equal(brierSkillScore(null, 0.2), null);
  assert.equal(brierSkillScore(0.1, null), null);
  assert.equal(brierSkillScore(0.1, 0), null);
});

test("throws a RangeError for probabilities, outcomes, shares and counts outside their ranges", () => {
  for (const bad of [-0.1, 1.1, Number.NaN]) {
    for (const forecast of [
      { probability: bad, outcome: 1 },
      { probability: 0.5, outcome: bad },
    ]) {
      assert.throws(() => brierScore([forecast]), RangeError);
      assert.throws(() => meanLogLoss([forecast], CLIP), RangeError);
      assert.throws(() => reliabilityBins(grouped([forecast])), RangeError);
    }
    assert.throws(() => wilsonInterval(bad, 10), RangeError);
  }
  for (const count of [0, -1, Number.NaN, Infinity]) assert.throws(() => wilsonInterval(0.5, count), RangeError);
});
