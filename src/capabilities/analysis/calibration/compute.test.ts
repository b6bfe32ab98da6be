import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertNear } from "../../../../test/support/asserts/assert-near.ts";
import { computeCalibrationReport } from "./compute.ts";
import { type CalibrationSample, NO_CATEGORY } from "./model.ts";

interface Row {
  readonly market: number;
  /** The market's own question by default. */
  readonly question?: number;
  readonly horizon: number;
  readonly category: number;
  readonly probability: number;
  readonly marketPrice: number;
  readonly outcome: number;
}

const toSample = (rows: readonly Row[]): CalibrationSample => ({
  market: Int32Array.from(rows, ({ market }) => market),
  question: Int32Array.from(rows, ({ market, question = market }) => question),
  horizon: Uint8Array.from(rows, ({ horizon }) => horizon),
  category: Uint8Array.from(rows, ({ category }) => category),
  probability: Float64Array.from(rows, ({ probability }) => probability),
  marketPrice: Float64Array.from(rows, ({ marketPrice }) => marketPrice),
  outcome: Float64Array.from(rows, ({ outcome }) => outcome),
  resolvedAt: Float64Array.from(rows, () => 0),
});
const unit = fc.double({ min: 0, max: 1, noNaN: true });
const row = fc.record({
  market: fc.integer({ min: 0, max: 6 }),
  horizon: fc.integer({ min: 0, max: 4 }),
  category: fc.constantFrom(0, 3, 11, NO_CATEGORY),
  probability: unit,
  marketPrice: unit,
  outcome: unit,
});

test("categories, horizons and bins each partition the sample, and their scores average to the total", () => {
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 40 }), (rows) => {
      const { total, bins, byCategory, byHorizon, brierDifference } = computeCalibrationReport(toSample(rows), 1);
      assert.equal(total.sampleSize, rows.length);
      assert.equal(total.markets, new Set(rows.map(({ market }) => market)).size);
      const brier = rows.reduce((sum, { probability, outcome }) => sum + (probability - outcome) ** 2, 0) / rows.length;
      assertNear(total.brierScore, brier);
      assert.equal(
        bins.reduce((sum, { count }) => sum + count, 0),
        rows.length,
      );
      assert.equal(byHorizon.length, 5);
      for (const parts of [byCategory, byHorizon]) {
        const weighted = parts.reduce((sum, { sampleSize, brierScore }) => sum + sampleSize * (brierScore ?? 0), 0);
        assertNear(weighted / rows.length, brier);
      }
      assertNear(brierDifference?.value, brier - (total.marketBrierScore ?? 0));
    }),
    { numRuns: 50 },
  );
});

test("if one forecast has no price, the scores of the price are null", () => {
  const known = { market: 1, horizon: 0, category: 0, probability: 0.8, marketPrice: 0.5, outcome: 1 };
  const report = computeCalibrationReport(toSample([known, { ...known, marketPrice: Number.NaN }]), 1);
  assertNear(report.total.brierScore, 0.04);
  assert.deepEqual(
    [report.total.marketBrierScore, report.total.marketLogLoss, report.total.brierSkillScore, report.brierDifference],
    [null, null, null, null],
  );
});

test("the normal interval just above the resampling limit agrees with the bootstrap interval just below it", () => {
  const rows = Array.from({ length: 5_001 }, (_, market) => ({
    market,
    horizon: 0,
    category: 0,
    outcome: market % 3 === 0 ? 1 : 0,
    probability: 0.3 + 0.2 * Math.sin(market),
    marketPrice: 0.35 + 0.2 * Math.cos(market),
  }));
  const approximated = computeCalibrationReport(toSample(rows)).brierDifference;
  const resampled = computeCalibrationReport(toSample(rows.slice(1))).brierDifference;
  const width = (resampled?.high ?? 0) - (resampled?.low ?? 0);
  assert.ok(width > 0);
  assertNear(approximated?.low, resampled?.low ?? 0, 0.06 * width);
  assertNear(approximated?.high, resampled?.high ?? 0, 0.06 * width);
});

const forecastOf = (market: number, question: number) => ({
  market,
  question,
  horizon: 0,
  category: market % 2 === 0 ? 0 : 3,
  probability: 0.7,
  marketPrice: 0.6,
  outcome: question % 3 === 0 ? 0 : 1,
});

test("with 29 independent questions in 58 markets there are counts only, and with 30 there are scores", () => {
  const few = Array.from({ length: 58 }, (_, market) => forecastOf(market, market >> 1));
  const { total, bins, brierDifference, byHorizon } = computeCalibrationReport(toSample(few));
  const none = { brierScore: null, marketBrierScore: null, brierSkillScore: null };
  const noLoss = { logLoss: null, marketLogLoss: null, expectedCalibrationError: null };
  assert.deepEqual(total, { sampleSize: 58, markets: 58, questions: 29, ...none, ...noLoss });
  assert.equal(brierDifference, null);
  assert.deepEqual(bins[7], {
    lower: 0.7,
    upper: 0.8,
    count: 58,
    meanPredicted: null,
    observedFrequency: null,
    low: null,
    high: null,
  });
  assert.deepEqual([byHorizon[0]?.sampleSize, byHorizon[0]?.brierScore], [58, null]);
  const enough = computeCalibrationReport(toSample([...few, forecastOf(58, 29)]));
  assert.deepEqual([enough.total.questions, enough.bins[7]?.count], [30, 59]);
  assert.ok(enough.total.brierScore !== null && enough.brierDifference !== null && enough.bins[7]?.low !== null);
  assert.deepEqual(
    enough.byCategory.map(({ questions, brierScore }) => [questions, brierScore === null]),
    [
      [30, false],
      [29, true],
    ],
  );
});

test("markets of one question do not make the interval narrower", () => {
  const questions = Array.from({ length: 40 }, (_, question) => forecastOf(question, question));
  const copies = Array.from({ length: 400 }, (_, market) => forecastOf(market, market % 40));
  const [alone, copied] = [questions, copies].map((rows) => computeCalibrationReport(toSample(rows)));
  assertNear(copied?.brierDifference?.low, alone?.brierDifference?.low ?? 0);
  assertNear(copied?.brierDifference?.high, alone?.brierDifference?.high ?? 0);
  assert.deepEqual([copied?.bins[7]?.low, copied?.bins[7]?.high], [alone?.bins[7]?.low, alone?.bins[7]?.high]);
});
