import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decideMarkets, findEventVetoes, findMarketVetoes } from "./decide.ts";
import { compareEvents } from "./event-features.ts";
import { createEventFingerprint } from "./event-fingerprint.ts";
import { compareMarkets, hasEarlyVeto } from "./features.ts";
import { createFingerprint } from "./fingerprint.ts";
import { MATCHING_COEFFICIENTS, WORD_WEIGHTS } from "./model-data.ts";

const WORDS =
  "will the Ann Lee Bo Chen win lose remain announce not Ohio Senate nominee vs Lakers Heat : final map 2 above below $5 $6 " +
  "3% between 1 and 2 million by in June 30 2026 Q3 May 11-17 draw before who group A core inflation Norway 6th ?";
const title = fc.array(fc.constantFrom(...WORDS.split(" ")), { maxLength: 14 }).map((words) => words.join(" "));
const time = fc.option(fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 0, 1) }), { nil: null });

const market = fc
  .record({
    title,
    outcomeLabel: fc.option(title, { nil: null }),
    eventTitle: fc.option(title, { nil: null }),
    closeAt: time,
    expectedResolutionAt: time,
  })
  .map(createFingerprint);
const event = fc
  .record({
    title,
    legs: fc.array(title, { maxLength: 3 }),
    legCount: fc.option(fc.integer({ min: 0, max: 9 }), { nil: null }),
    closeAt: time,
    expectedResolutionAt: time,
  })
  .map(createEventFingerprint);

/** Counts are at most the number of dimensions; all other features are shares. */
const FEATURE_MAX: Readonly<Record<string, number>> = {
  unmatched_both: 2,
  loose_one_sided: 5,
  scopes_same: 12,
};

function assertInRange(features: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(features))
    assert.ok(value >= 0 && value <= (FEATURE_MAX[name] ?? 1) + 1e-9, `${name} is ${value}`);
}

function assertClose(a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(a)) assert.ok(Math.abs(value - (b[name] ?? Number.NaN)) < 1e-9, name);
}

test("features of two markets are in their ranges; swapping the markets changes only signs and directions", () => {
  const swapped: Readonly<Record<string, string>> = { a_implies_b: "b_implies_a", b_implies_a: "a_implies_b" };
  fc.assert(
    fc.property(market, market, (a, b) => {
      const forward = compareMarkets(a, b, WORD_WEIGHTS);
      const backward = compareMarkets(b, a, WORD_WEIGHTS);
      assertInRange(forward.features);
      assertClose(forward.features, backward.features);
      assert.equal(backward.quantities, swapped[forward.quantities] ?? forward.quantities);
      assert.equal(backward.periods.relation, forward.periods.relation);
      assert.equal(forward.periods.daysApart === null, backward.periods.daysApart === null);
      assert.equal((forward.periods.daysApart ?? 0) + (backward.periods.daysApart ?? 0), 0);
      assert.deepEqual([...backward.vetoedScopes].sort(), [...forward.vetoedScopes].sort());
      assert.equal(backward.isPolarityFlipped, forward.isPolarityFlipped);
    }),
  );
});

test("a market compared with itself has full coverage and no conflict", () => {
  fc.assert(
    fc.property(market, (a) => {
      const comparison = compareMarkets(a, a, WORD_WEIGHTS);
      assert.equal(comparison.features.same_core, 1);
      assert.ok(Math.abs(comparison.features.coverage_min - 1) < 1e-9);
      assert.equal(comparison.features.unmatched_max, 0);
      assert.deepEqual(findMarketVetoes(comparison), []);
    }),
  );
});

test("if the early veto check (`hasEarlyVeto`) excludes a pair of markets, the full comparison finds no relation either", () => {
  fc.assert(
    fc.property(market, market, (a, b) => {
      fc.pre(hasEarlyVeto(a, b, WORD_WEIGHTS));
      assert.equal(decideMarkets(compareMarkets(a, b, WORD_WEIGHTS), MATCHING_COEFFICIENTS).relation, null);
    }),
  );
});

test("features of two events are in their ranges and do not depend on the order of the events", () => {
  fc.assert(
    fc.property(event, event, (a, b) => {
      const forward = compareEvents(a, b, WORD_WEIGHTS);
      const backward = compareEvents(b, a, WORD_WEIGHTS);
      assertInRange(forward.features);
      assertClose(forward.features, backward.features);
      assert.deepEqual([...backward.vetoedScopes].sort(), [...forward.vetoedScopes].sort());
    }),
  );
});

test("an event compared with itself has full coverage and no conflict", () => {
  fc.assert(
    fc.property(event, (a) => {
      const comparison = compareEvents(a, a, WORD_WEIGHTS);
      assert.equal(comparison.features.same_core, 1);
      assert.ok(Math.abs(comparison.features.coverage_min - 1) < 1e-9);
      assert.equal(comparison.features.size_differs, 0);
      assert.deepEqual(findEventVetoes(comparison), []);
    }),
  );
});

test("the trigger is vetoed once, even if both its verbs and the events after `before` differ", () => {
  const read = (text: string) =>
    createFingerprint({ title: text, outcomeLabel: null, eventTitle: null, closeAt: null, expectedResolutionAt: null });
  const a = read("Will Ann Lee announce a tour before GTA VI?");
  const b = read("Will Ann Lee postpone a tour before the midterms?");
  const { vetoedScopes } = compareMarkets(a, b, WORD_WEIGHTS);
  assert.deepEqual(vetoedScopes, ["trigger"]);
});
