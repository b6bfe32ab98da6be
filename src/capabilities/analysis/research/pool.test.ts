import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { logit } from "../../../lib/numbers.ts";
import { effectBounds, INFLUENCE_MAX, POOL_COEFFICIENTS, poolTrials, trimmedMean } from "./pool.ts";

const { shrinkage, loneSourceEffect, corroboration } = POOL_COEFFICIENTS;
const effect = fc.double({ min: -3, max: 3, noNaN: true });
const trials = (sources: number) =>
  fc.array(
    fc.record({
      blind: effect,
      effects: fc.array(fc.option(effect, { freq: 4 }), { minLength: sources, maxLength: sources }),
    }),
    { minLength: 3, maxLength: 5 },
  );

test("the trimmed mean omits the extremes, fewer of them for few values, and throws without values", () => {
  assert.equal(trimmedMean([100, 0, 1, 2, 3], 1), 2);
  assert.equal(trimmedMean([1, 5], 1), 3);
  assert.equal(trimmedMean([7], 2), 7);
  assert.throws(() => trimmedMean([], 1), RangeError);
  assert.throws(() => poolTrials([]), RangeError);
});

test("without documents the pool is the shrunk trimmed mean of the blind log-odds", () => {
  const blind = [-1, 0.2, 0.4, 0.6, 9].map((value) => ({ blind: value, effects: [] }));
  const pool = poolTrials(blind);
  assert.ok(Math.abs(logit(pool.probability) - shrinkage * 0.4) < 1e-12);
  assert.equal(pool.mostInfluential, null);
  const prior = { ...POOL_COEFFICIENTS, shrinkage: 0.5, priorLogOdds: -2 };
  assert.ok(Math.abs(logit(poolTrials(blind, prior).probability) - (-2 + 0.5 * (0.4 + 2))) < 1e-12);
});

test("sources that agree have wider bounds than a single source or sources that disagree", () => {
  assert.deepEqual(effectBounds([2], POOL_COEFFICIENTS), [loneSourceEffect]);
  assert.deepEqual(effectBounds([2, -2], POOL_COEFFICIENTS), [loneSourceEffect, loneSourceEffect]);
  const [bound] = effectBounds([2, 1, 1, -1], POOL_COEFFICIENTS);
  assert.ok(Math.abs((bound ?? 0) - loneSourceEffect * (1 + 2 * corroboration)) < 1e-12);
});

test("one source changes the log-odds by at most its bounds, even if it changes every trial", () => {
  fc.assert(
    fc.property(trials(6), fc.array(effect, { minLength: 5, maxLength: 5 }), fc.nat(5), (sample, replaced, source) => {
      const changed = sample.map((trial, index) => ({
        ...trial,
        effects: trial.effects.map((value, at) => (at === source ? (replaced[index] ?? 0) : value)),
      }));
      const widest = loneSourceEffect * (1 + 5 * corroboration);
      const limit = shrinkage * (2 * widest + 5 * loneSourceEffect * corroboration) + 1e-9;
      const move = Math.abs(logit(poolTrials(sample).probability) - logit(poolTrials(changed).probability));
      assert.ok(move <= limit, `${move} > ${limit}`);
    }),
  );
});

test("a source without the support of another one moves the log-odds by at most `loneSourceEffect`", () => {
  fc.assert(
    fc.property(trials(1), (sample) => {
      const silent = sample.map(({ blind }) => ({ blind, effects: [] }));
      const move = Math.abs(logit(poolTrials(sample).probability) - logit(poolTrials(silent).probability));
      assert.ok(move <= shrinkage * loneSourceEffect + 1e-9);
    }),
  );
});

test("among up to 8 sources none moves the published probability by more than 0.15", () => {
  fc.assert(
    fc.property(trials(8), (sample) => {
      assert.ok((poolTrials(sample).mostInfluential?.move ?? 0) <= INFLUENCE_MAX);
    }),
  );
});

test("the pool does not depend on the order of trials, is symmetric in YES and NO, and is less certain if trials disagree", () => {
  fc.assert(
    fc.property(trials(4), (sample) => {
      const pool = poolTrials(sample);
      assert.ok(Math.abs(poolTrials([...sample].reverse()).probability - pool.probability) < 1e-9);
      const mirrored = sample.map(({ blind, effects }) => ({
        blind: -blind,
        effects: effects.map((value) => (value === null ? null : -value)),
      }));
      assert.ok(Math.abs(poolTrials(mirrored).probability + pool.probability - 1) < 1e-9);
      assert.ok(pool.standardError >= POOL_COEFFICIENTS.standardErrorMin);
    }),
  );
  const agreeing = [0.5, 0.5, 0.5].map((blind) => ({ blind, effects: [] }));
  const disagreeing = [-1, 0.5, 2].map((blind) => ({ blind, effects: [] }));
  assert.ok(poolTrials(disagreeing).standardError > poolTrials(agreeing).standardError + 0.5);
});
