import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { correlationClusters, JOINT_MOVES_MIN, pairCorrelations, relationshipOf } from "./correlation.ts";
import type { LogOddsMoves } from "./price-grid.ts";

const movesOf = (values: readonly number[], first = 0): LogOddsMoves => ({
  values: Float64Array.from(values, (value, index) => (index < first ? 0 : value)),
  first,
});

/** The textbook definition, over the steps in which both moves are known. */
function referenceCorrelation(x: LogOddsMoves, y: LogOddsMoves): number {
  const first = Math.max(x.first, y.first);
  const xs = [...x.values].slice(first);
  const ys = [...y.values].slice(first);
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(xs), mean(ys)];
  const sumOf = (term: (x: number, y: number) => number) =>
    xs.reduce((sum, value, index) => sum + term(value - meanX, (ys[index] ?? 0) - meanY), 0);
  return sumOf((a, b) => a * b) / Math.sqrt(sumOf((a) => a * a) * sumOf((_, b) => b * b));
}

const correlationOf = (x: LogOddsMoves, y: LogOddsMoves) => pairCorrelations([x, y])[0]?.correlation ?? null;
const wave = Array.from({ length: 100 }, (_, index) => Math.sin(1 + index));

test("known value: Anscombe's first data set has a correlation of 0.81642", () => {
  const xs = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5];
  const ys = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
  const repeat = (values: readonly number[]) => [...values, ...values, ...values];
  const correlation = correlationOf(movesOf(repeat(xs)), movesOf(repeat(ys)));
  assert.ok(Math.abs((correlation ?? 0) - 0.816420516) < 1e-8, `${correlation}`);
});

test("a series has a correlation of 1 with itself and of -1 with its negative", () => {
  const opposite = wave.map((value) => -3 * value);
  assert.ok(Math.abs((correlationOf(movesOf(wave), movesOf(wave)) ?? 0) - 1) < 1e-12);
  assert.ok(Math.abs((correlationOf(movesOf(wave), movesOf(opposite)) ?? 0) + 1) < 1e-12);
});

const randomMoves = fc
  .record({
    // Multiples of 0.001, with some zeros for steps without a trade.
    values: fc.array(
      fc.oneof(
        { weight: 1, arbitrary: fc.constant(0) },
        { weight: 9, arbitrary: fc.integer({ min: -5_000, max: 5_000 }).map((move) => move / 1_000) },
      ),
      { minLength: 120, maxLength: 120 },
    ),
    drift: fc.constantFrom(-2, 0, 3),
    first: fc.integer({ min: 0, max: 60 }),
  })
  .map(({ values, drift, first }) =>
    movesOf(
      values.map((move) => (move === 0 ? 0 : move + drift)),
      first,
    ),
  );

test("every coefficient equals the textbook definition to 1e-9", () => {
  let compared = 0;
  fc.assert(
    fc.property(fc.array(randomMoves, { minLength: 2, maxLength: 6 }), (series) => {
      for (const { a, b, correlation, dataPoints } of pairCorrelations(series)) {
        const [x, y] = [series[a] as LogOddsMoves, series[b] as LogOddsMoves];
        assert.equal(dataPoints, 120 - Math.max(x.first, y.first));
        if (correlation === null) continue;
        compared += 1;
        assert.ok(Math.abs(correlation - referenceCorrelation(x, y)) < 1e-9);
      }
    }),
  );
  assert.ok(compared > 100, "most pairs have a coefficient");
});

test("the coefficient does not depend on the order, the scale or the offset of the series", () => {
  fc.assert(
    fc.property(randomMoves, randomMoves, fc.double({ min: 0.1, max: 10, noNaN: true }), (x, y, scale) => {
      const [forward, backward] = [correlationOf(x, y), correlationOf(y, x)];
      const scaled = correlationOf(
        movesOf(
          Array.from(x.values, (value) => scale * value),
          x.first,
        ),
        y,
      );
      if (forward === null) return;
      assert.ok(Math.abs(forward - (backward ?? Number.NaN)) < 1e-9);
      assert.ok(Math.abs(forward - (scaled ?? Number.NaN)) < 1e-9);
    }),
  );
});

test("a pair without enough joint moves has no coefficient, even if each market moves often", () => {
  const alternate = (offset: number) => wave.map((value, index) => (index % 2 === offset ? value : 0));
  assert.equal(correlationOf(movesOf(alternate(0)), movesOf(alternate(1))), null);
  const jointMoves = (count: number) => movesOf(wave.map((value, index) => (index < count ? value : 0)));
  assert.equal(correlationOf(jointMoves(JOINT_MOVES_MIN - 1), movesOf(wave)), null);
  assert.notEqual(correlationOf(jointMoves(JOINT_MOVES_MIN), movesOf(wave)), null);
});

test("a market whose price never moves has no coefficient with any other", () => {
  const still = movesOf(wave.map(() => 0));
  assert.deepEqual(
    pairCorrelations([movesOf(wave), still, still]).map(({ correlation }) => correlation),
    [null, null, null],
  );
});

test("a market that always moves by the same amount has no variance and no coefficient", () => {
  assert.equal(correlationOf(movesOf(wave.map(() => 0.25)), movesOf(wave)), null);
});

test("series of different lengths are refused", () => {
  assert.throws(() => pairCorrelations([movesOf(wave), movesOf(wave.slice(1))]), RangeError);
});

test("the relationship changes at 0.7, 0.3, -0.3 and -0.7", () => {
  const relationships = [1, 0.7, 0.6999, 0.3, 0.2999, -0.2999, -0.3, -0.6999, -0.7, -1].map(relationshipOf);
  assert.deepEqual(relationships, [
    ...["strong_positive", "strong_positive", "positive", "positive", "neutral"],
    ...["neutral", "negative", "negative", "strong_negative", "strong_negative"],
  ]);
  assert.equal(relationshipOf(null), "insufficient_data");
  for (const wrong of [Number.NaN, 1.01, -1.01]) assert.throws(() => relationshipOf(wrong), RangeError);
});

test("clusters are the connected components above the threshold", () => {
  const pair = (a: number, b: number, correlation: number | null) => ({ a, b, correlation });
  const pairs = [
    pair(0, 4, 0.51),
    pair(1, 2, 0.5),
    pair(2, 3, 0.9),
    pair(3, 4, -0.9),
    pair(4, 5, 0.8),
    pair(1, 5, null),
  ];
  assert.deepEqual(correlationClusters(6, pairs, 0.5), [
    [0, 4, 5],
    [2, 3],
  ]);
  assert.deepEqual(correlationClusters(3, [], 0.5), []);
  assert.throws(() => correlationClusters(2, [pair(1, 2, 0.9)], 0.5), RangeError);
});
