import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertNear } from "../../test/support/asserts/assert-near.ts";
import { holdingTimes, type SpreadSeries, spreadStatistics, spreadTrend } from "./spread-history.ts";

const PERIOD = { from: 0, recentFrom: 20, to: 40, observedMsMin: 5 };
const series: fc.Arbitrary<SpreadSeries> = fc
  .array(fc.tuple(fc.integer({ min: -50, max: 90 }), fc.option(fc.integer({ min: 0, max: 100 }), { nil: null })), {
    maxLength: 30,
  })
  .map((quotes) => {
    const sorted = quotes.sort(([a], [b]) => a - b);
    return {
      times: sorted.map(([time]) => time),
      spreads: sorted.map(([, cents]) => (cents === null ? null : cents / 100)),
    };
  });

test("known values: 30 ms at 1 cent and 10 ms at 3 cents have a mean of 1.5 cents; 2 cents are at percentile 75", () => {
  const { mean, percentile, trend } = spreadStatistics({ times: [0, 30], spreads: [0.01, 0.03] }, 0.02, PERIOD);
  assertNear(mean, 0.015);
  assert.equal(percentile, 75);
  assert.equal(trend, "widening");
  assert.deepEqual(holdingTimes([0, 10, 30], 5, 40), [5, 20, 10]);
});

test("closed form: a spread that never changes is at percentile 50 of itself, and stable", () => {
  const statistics = spreadStatistics({ times: [-100], spreads: [0.02] }, 0.02, PERIOD);
  assert.deepEqual(statistics, { mean: 0.02, percentile: 50, trend: "stable" });
});

test("the mean equals that of the spreads sampled at every millisecond, and quotes after the end change nothing", () => {
  fc.assert(
    fc.property(series, ({ times, spreads }) => {
      const sampled: number[] = [];
      for (let at = PERIOD.from; at < PERIOD.to; at++) {
        const spread = spreads[times.findLastIndex((time) => time <= at)] ?? null;
        if (spread !== null) sampled.push(spread);
      }
      const { mean, percentile } = spreadStatistics({ times, spreads }, 0.5, PERIOD);
      if (sampled.length === 0) assert.equal(mean, null);
      else assertNear(mean, sampled.reduce((sum, spread) => sum + spread, 0) / sampled.length);
      const ranks = sampled.map((spread) => (spread < 0.5 ? 100 : spread === 0.5 ? 50 : 0) as number);
      if (sampled.length < PERIOD.observedMsMin) assert.equal(percentile, null);
      else assertNear(percentile, ranks.reduce((sum, rank) => sum + rank, 0) / sampled.length);
      const past = times.filter((time) => time <= PERIOD.to).length;
      const known = { times: times.slice(0, past), spreads: spreads.slice(0, past) };
      assert.deepEqual(spreadStatistics(known, 0.5, PERIOD), spreadStatistics({ times, spreads }, 0.5, PERIOD));
    }),
  );
});

test("a change of at least 10% is `widening` or `tightening`, and with too short a history the trend is null", () => {
  assert.equal(spreadTrend(0.0111, 0.01), "widening");
  assert.equal(spreadTrend(0.0109, 0.01), "stable");
  assert.equal(spreadTrend(0.01, 0.0109), "stable");
  assert.equal(spreadTrend(0.01, 0.0111), "tightening");
  const trendOf = (times: readonly number[]) =>
    spreadStatistics({ times, spreads: times.map(() => 0.01) }, null, PERIOD).trend;
  assert.equal(trendOf([15]), "stable");
  assert.equal(trendOf([16]), null);
  assert.equal(trendOf([36]), null);
});

test("without quotes, or for a market that was quoted for too short a time, figures are null", () => {
  const unknown = { mean: null, percentile: null, trend: null };
  assert.deepEqual(spreadStatistics({ times: [], spreads: [] }, 0.01, PERIOD), unknown);
  assert.deepEqual(spreadStatistics({ times: [0], spreads: [null] }, 0.01, PERIOD), unknown);
  assert.deepEqual(spreadStatistics({ times: [36], spreads: [0.01] }, 0.01, PERIOD), { ...unknown, mean: 0.01 });
});

test("decreasing times, unequal lists, a reversed period and impossible spreads are refused", () => {
  assert.throws(() => holdingTimes([2, 1], 0, 1), RangeError);
  assert.throws(() => holdingTimes([1], 1, 0), RangeError);
  assert.throws(() => spreadTrend(-1, 0), RangeError);
  assert.throws(() => spreadTrend(0, -1), RangeError);
  assert.throws(() => spreadStatistics({ times: [1], spreads: [] }, null, PERIOD), RangeError);
  for (const wrong of [-0.01, Number.NaN, Infinity])
    assert.throws(() => spreadStatistics({ times: [1], spreads: [wrong] }, null, PERIOD), RangeError);
  assert.throws(() => spreadStatistics({ times: [], spreads: [] }, null, { ...PERIOD, recentFrom: -1 }), RangeError);
});
