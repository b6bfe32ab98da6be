import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "../../../src/lib/durations.ts";
import { sigmoid } from "../../../src/lib/numbers.ts";
import { foldOf, splitByGroup, splitByTime } from "./folds.ts";
import { type FitRow, fitWeights } from "./train.ts";

/** Deterministic quasi-random numbers in [0, 1): fractional parts of multiples of an irrational number. */
const spread = (index: number, factor: number): number => (index * factor) % 1;

/** Rows with outcomes from a prior of 0.5 and the factor `calibration` with this weight. `momentum` has none. */
function createRows(weight: number | ((index: number) => number)): FitRow[] {
  return Array.from({ length: 2_000 }, (_, index) => {
    const calibration = 4 * spread(index, Math.SQRT2) - 2;
    const momentum = 4 * spread(index, Math.sqrt(3)) - 2;
    const probability = sigmoid((typeof weight === "number" ? weight : weight(index)) * calibration);
    return {
      group: `g${index}`,
      asOf: index * DAY_MS,
      resolvedAt: (index + 1) * DAY_MS,
      outcome: spread(index, Math.sqrt(5)) < probability ? 1 : 0,
      offset: 0,
      exposures: { calibration, momentum },
    };
  });
}

test("the fit recovers the weight of a factor, and gives the weight 0 to a factor without effect", () => {
  const { weights, trials, covariance } = fitWeights(createRows(0.7), ["calibration", "momentum"]);
  assert.ok(Math.abs((weights.calibration ?? 0) - 0.7) < 0.15, `${weights.calibration}`);
  assert.equal(weights.momentum, 0);
  assert.deepEqual(
    trials.map(({ name, isKept }) => [name, isKept]),
    [
      ["calibration", true],
      ["momentum", false],
    ],
  );
  assert.ok((covariance.calibration?.calibration ?? 0) > 0);
  assert.equal(fitWeights(createRows(0), ["calibration"]).weights.calibration, 0);
});

test("a factor whose effect reverses over time is rejected, although it improves the scores by group", () => {
  const { weights, trials } = fitWeights(
    createRows((index) => (index < 700 ? -1.2 : 1.2)),
    ["calibration"],
  );
  const [trial] = trials;
  assert.ok(trial !== undefined && trial.byGroup.logLoss > trial.byGroup.error && trial.byGroup.brier > 0);
  assert.ok(trial.byTime.logLoss < 0, `${trial.byTime.logLoss}`);
  assert.deepEqual([trial.isKept, weights.calibration], [false, 0]);
});

test("a weight is limited to 1, and a factor with too few groups is not fitted", () => {
  assert.equal(fitWeights(createRows(3), ["calibration"]).weights.calibration, 1);
  assert.deepEqual(fitWeights(createRows(0.7).slice(0, 19), ["calibration"]).weights, {});
});

test("no group is in both the training and the test rows, and each row is tested once", () => {
  const rows = createRows(0).map((row, index) => ({ ...row, group: `g${index % 50}` }));
  const splits = splitByGroup(rows);
  assert.equal(splits.flatMap(({ test: tested }) => tested).length, rows.length);
  for (const { train, test: tested } of splits) {
    const groups = new Set(tested.map(({ group }) => group));
    assert.ok(train.every(({ group }) => !groups.has(group)));
  }
  assert.equal(foldOf("g1"), foldOf("g1"));
});

test("the training rows of a time block are of other groups and were resolved before the block", () => {
  // Groups have 300 rows and blocks 250, so that groups span several blocks.
  const splits = splitByTime(createRows(0).map((row, index) => ({ ...row, group: `g${Math.floor(index / 300)}` })));
  assert.equal(splits.length, 7);
  assert.ok(splits.slice(1).every(({ train }) => train.length > 0));
  for (const { train, test: tested } of splits) {
    const start = Math.min(...tested.map(({ asOf }) => asOf));
    assert.ok(train.every(({ resolvedAt }) => resolvedAt < start));
    const groups = new Set(tested.map(({ group }) => group));
    assert.ok(train.every(({ group }) => !groups.has(group)));
  }
});
