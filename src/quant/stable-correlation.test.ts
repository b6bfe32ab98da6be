import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { JOINT_MOVES_MIN, pairCorrelations } from "./correlation.ts";
import type { LogOddsMoves } from "./price-grid.ts";
import { HOURLY_HORIZONS, stableCorrelations } from "./stable-correlation.ts";

const STEPS = 720;

/** Deterministic numbers in [0, 1): the generator of Park and Miller. */
function createGenerator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

/** Approximately normal numbers: sums of twelve uniform ones. */
const normal = (uniform: () => number): number =>
  Array.from({ length: 12 }, uniform).reduce((sum, value) => sum + value, -6);

const movesOf = (levels: readonly number[]): LogOddsMoves => ({
  values: Float64Array.from(levels.slice(1), (level, index) => level - (levels[index] ?? 0)),
  first: 0,
});

/** A random walk as log-odds. */
function walk(uniform: () => number, steps = STEPS): number[] {
  let level = 0;
  return Array.from({ length: steps + 1 }, () => (level += 0.1 * normal(uniform)));
}

/** Quotes that are updated in a share of the steps and are randomly at the bid or at the ask. */
function quote(
  truth: readonly number[],
  uniform: () => number,
  { updates, bounce }: { updates: number; bounce: number },
) {
  let shown = truth[0] ?? 0;
  return truth.map((level) => {
    if (uniform() < updates) shown = level;
    return shown + bounce * (uniform() < 0.5 ? -1 : 1);
  });
}

test("despite stale quotes and bounce, a correlation of 1 has a mean estimate of at least 0.9 at the stable horizon", () => {
  const estimates = [1, 7, 42, 99, 123, 555, 777, 31_337].map((seed) => {
    const uniform = createGenerator(seed);
    const truth = walk(uniform);
    const options = { updates: 0.4, bounce: 0.05 };
    const series = [quote(truth, uniform, options), quote(truth, uniform, options)].map(movesOf);
    const hourly = pairCorrelations(series)[0]?.correlation ?? Number.NaN;
    assert.ok(Math.abs(hourly) < 0.25, `${hourly}`);
    const [stable] = stableCorrelations(series);
    assert.equal(stable?.horizon, 24);
    return stable?.correlation ?? Number.NaN;
  });
  assert.ok(estimates.reduce((sum, estimate) => sum + estimate, 0) / estimates.length >= 0.9, estimates.join(", "));
});

test("for random walks without noise, the horizon is one step and the correlation is within 0.1 of 0.5", () => {
  const uniform = createGenerator(5);
  const [common, x, y] = [walk(uniform), walk(uniform), walk(uniform)];
  const mix = (own: readonly number[]) => movesOf(own.map((level, index) => level + (common[index] ?? 0)));
  const [pair] = stableCorrelations([mix(x), mix(y)]);
  assert.equal(pair?.horizon, 1);
  // Half of the variance of each series comes from the common walk.
  assert.ok(Math.abs((pair?.correlation ?? 0) - 0.5) < 0.1);
});

test("of 780 pairs of independent markets, none gets a coefficient of 0.5 or more in absolute value", () => {
  const uniform = createGenerator(11);
  const pairs = stableCorrelations(Array.from({ length: 40 }, () => movesOf(walk(uniform, 168))));
  assert.ok(pairs.every(({ correlation }) => Math.abs(correlation ?? 0) < 0.5));
});

test("the coefficient equals the correlation of half-overlapping moves over the returned horizon", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 31 - 2 }), (seed) => {
      const uniform = createGenerator(seed);
      const truth = walk(uniform);
      const series = [0.3, 0.6].map((updates) => movesOf(quote(truth, uniform, { updates, bounce: 0.05 })));
      const [pair] = stableCorrelations(series);
      const horizon = pair?.horizon ?? 1;
      const stride = Math.max(1, Math.floor(horizon / 2));
      const long = series.map(({ values }) =>
        Array.from({ length: Math.floor((values.length - horizon) / stride) + 1 }, (_, index) =>
          values.slice(index * stride, index * stride + horizon).reduce((sum, value) => sum + value, 0),
        ),
      );
      const expected = pairCorrelations(
        long.map((values) => ({ values: Float64Array.from(values), first: 0 })),
        1,
      );
      assert.ok(Math.abs((pair?.correlation ?? 0) - (expected[0]?.correlation ?? 1)) < 1e-9);
      assert.ok(HOURLY_HORIZONS.includes(horizon));
    }),
    { numRuns: 30 },
  );
});

test("a pair with too few joint moves has no coefficient at any horizon", () => {
  const uniform = createGenerator(3);
  const busy = movesOf(walk(uniform));
  const idle = { values: busy.values.map((value, index) => (index < JOINT_MOVES_MIN - 1 ? value : 0)), first: 0 };
  const [pair] = stableCorrelations([busy, idle]);
  assert.deepEqual([pair?.correlation, pair?.horizon, pair?.effectivePoints], [null, 1, null]);
  assert.equal(pair?.dataPoints, STEPS);
});

test("horizons that do not increase from 1, and series of different lengths are refused", () => {
  const series = [movesOf([0, 1, 2]), movesOf([0, 1, 2])];
  for (const horizons of [[], [4, 8], [1, 8, 4], [1, 1], [1, Number.NaN]])
    assert.throws(() => stableCorrelations(series, horizons), RangeError);
  assert.throws(() => stableCorrelations([movesOf([0, 1]), movesOf([0, 1, 2])]), RangeError);
});
