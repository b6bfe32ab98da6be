import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertNear } from "../../test/support/asserts/assert-near.ts";
import { clusteredNormalRatio, clusteredRatio, clusteredStandardError, type RatioTerm } from "./clustered-ratio.ts";

test("the interval contains the value and is deterministic; copies of rows in one group keep the standard error", () => {
  const terms = Array.from({ length: 40 }, (_, index) => ({
    group: `${index}`,
    numerator: Math.sin(index),
    denominator: 1,
  }));
  const interval = clusteredRatio(terms);
  assert.deepEqual(clusteredRatio(terms), interval);
  assert.ok(interval !== null && interval.low < interval.value && interval.value < interval.high);
  const copied = terms.flatMap((term) => [term, term, term, term]);
  assertNear(clusteredStandardError(copied), clusteredStandardError(terms));
  const apart = copied.map((term, index) => ({ ...term, group: `${index}` }));
  assertNear(clusteredStandardError(apart), clusteredStandardError(terms) / 2);
});

test("the bootstrap interval agrees with the standard error of a mean", () => {
  const terms = Array.from({ length: 400 }, (_, index) => ({
    group: `${index}`,
    numerator: index % 2,
    denominator: 1,
  }));
  const interval = clusteredRatio(terms);
  assertNear(clusteredStandardError(terms), 0.5 / Math.sqrt(400));
  assertNear((interval?.high ?? 0) - (interval?.low ?? 0), (2 * 1.96 * 0.5) / Math.sqrt(400), 0.01);
});

test("with many groups, the normal interval agrees with the bootstrap interval", () => {
  const terms = Array.from({ length: 3_000 }, (_, index) => ({
    group: `${index % 1_500}`,
    numerator: Math.sin(index) + (index % 7) / 7,
    denominator: 1 + (index % 3),
  }));
  const [normal, resampled] = [clusteredNormalRatio(terms), clusteredRatio(terms)];
  assert.ok(normal !== null && resampled !== null);
  assertNear(normal.value, resampled.value);
  const width = resampled.high - resampled.low;
  assertNear(normal.low, resampled.low, 0.05 * width);
  assertNear(normal.high, resampled.high, 0.05 * width);
});

test("the bounds never leave the range of the groups' own ratios", () => {
  const term = fc.record({
    group: fc.constantFrom("a", "b", "c", "d"),
    numerator: fc.double({ min: -5, max: 5, noNaN: true }),
    denominator: fc.integer({ min: 1, max: 3 }),
  });
  fc.assert(
    fc.property(fc.array(term, { minLength: 1, maxLength: 12 }), (terms: readonly RatioTerm[]) => {
      const interval = clusteredRatio(terms);
      assert.ok(interval !== null);
      if (new Set(terms.map(({ group }) => group)).size === 1) return;
      const ratios = Map.groupBy(terms, ({ group }) => group)
        .values()
        .map((list) => sumOf(list, "numerator") / sumOf(list, "denominator"))
        .toArray();
      assert.ok(interval.low >= Math.min(...ratios) - 1e-9 && interval.high <= Math.max(...ratios) + 1e-9);
      assert.ok(interval.low <= interval.high);
    }),
    { numRuns: 30 },
  );
});

const sumOf = (terms: readonly RatioTerm[], name: "numerator" | "denominator") =>
  terms.reduce((sum, term) => sum + term[name], 0);

test("the interval of a single group is unbounded", () => {
  const terms = [1, 2, 3].map((numerator) => ({ group: "a", numerator, denominator: 1 }));
  for (const ratioOf of [clusteredRatio, clusteredNormalRatio])
    assert.deepEqual(ratioOf(terms), { value: 2, low: -Infinity, high: Infinity });
});

test("returns null without terms, and if the denominators sum to 0", () => {
  for (const ratioOf of [clusteredRatio, clusteredNormalRatio]) {
    assert.equal(ratioOf([]), null);
    assert.equal(ratioOf([{ group: "a", numerator: 1, denominator: 0 }]), null);
  }
});
