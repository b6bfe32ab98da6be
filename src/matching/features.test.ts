import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { decideEvents, decideMarkets, findEventVetoes, findMarketVetoes, type MatchDecision } from "./decide.ts";
import { compareEvents } from "./event-features.ts";
import { createEventFingerprint } from "./event-fingerprint.ts";
import { compareMarkets, hasEarlyVeto } from "./features.ts";
import { createFingerprint } from "./fingerprint.ts";
import { MATCHING_COEFFICIENTS, WORD_WEIGHTS } from "./model-data.ts";

const WORDS =
  "will the Ann Lee Bo Chen win lose remain announce not Ohio Senate nominee vs Lakers Heat : final map 2 above below $5 $6 " +
  "3% between 1 and 2 million by in June 30 2026 Q3 May 11-17 draw before who group A core inflation Norway 6th ? " +
  "vs. - leave beat Phoenix Los Angeles L Democrats GOP Modi India Texas PM if at_halftime";
const title = fc
  .array(fc.constantFrom(...WORDS.split(" ")), { maxLength: 14 })
  .map((words) => words.join(" ").replaceAll("_", " "));
const time = fc.option(fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 0, 1) }), { nil: null });

const read = (text: string) =>
  createFingerprint({ title: text, outcomeLabel: null, eventTitle: null, closeAt: null, expectedResolutionAt: null });
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

/** Weights of words and equal scopes are bounded, counts are at most the number of dimensions; others are shares. */
const FEATURE_MAX: Readonly<Record<string, number>> = {
  words_both: 2,
  words_one: 2,
  scopes_same: 2,
  strict_differs: 6,
  strict_one_sided: 6,
  general_differs: 8,
  general_one_sided: 8,
};

function assertInRange(features: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(features))
    assert.ok(value >= 0 && value <= (FEATURE_MAX[name] ?? 1) + 1e-9, `${name} is ${value}`);
}

function assertClose(a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(a)) assert.ok(Math.abs(value - (b[name] ?? Number.NaN)) < 1e-9, name);
}

const FLAGS = [
  "hasOtherSubject",
  "hasOtherPlace",
  "hasOtherGame",
  "areOppositeSides",
  "isPolarityFlipped",
  "isNegated",
] as const;

/** Swapping two questions swaps subset and superset. */
function assertSwapped(forward: MatchDecision, backward: MatchDecision): void {
  const swapped: Readonly<Record<string, string>> = { subset: "superset", superset: "subset" };
  assert.equal(backward.relation, swapped[forward.relation ?? ""] ?? forward.relation);
  assert.ok(Math.abs(backward.probability - forward.probability) < 1e-9);
  assert.deepEqual([...backward.vetoes].sort(), [...forward.vetoes].sort());
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
      assert.deepEqual(backward.scopes.relations, forward.scopes.relations);
      for (const flag of FLAGS) assert.equal(backward[flag], forward[flag], flag);
      assertSwapped(decideMarkets(forward, MATCHING_COEFFICIENTS), decideMarkets(backward, MATCHING_COEFFICIENTS));
    }),
  );
});

/** Weights of words that have no counterpart. */
const UNMATCHED = ["names_both", "names_one", "names_against_words", "words_both", "words_one"] as const;

test("a market compared with itself has full coverage and no conflict", () => {
  fc.assert(
    fc.property(market, (a) => {
      const comparison = compareMarkets(a, a, WORD_WEIGHTS);
      assert.equal(comparison.features.same_core, 1);
      assert.ok(Math.abs(comparison.features.coverage_min - 1) < 1e-9);
      for (const name of UNMATCHED) assert.equal(comparison.features[name], 0, name);
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
    // Modi implies India.
    { examples: [[read("Will PM Modi of India win?"), read("Will Modi win in Texas?")]] },
  );
});

test("features of two events are in their ranges and do not depend on the order of the events", () => {
  fc.assert(
    fc.property(event, event, (a, b) => {
      const forward = compareEvents(a, b, WORD_WEIGHTS);
      const backward = compareEvents(b, a, WORD_WEIGHTS);
      assertInRange(forward.features);
      assertClose(forward.features, backward.features);
      assert.deepEqual(backward.scopes.relations, forward.scopes.relations);
      assert.equal(backward.hasOtherGame, forward.hasOtherGame);
      assert.equal(backward.hasOtherPlace, forward.hasOtherPlace);
      assertSwapped(decideEvents(forward, MATCHING_COEFFICIENTS), decideEvents(backward, MATCHING_COEFFICIENTS));
    }),
  );
});

test("the share of the common outcomes of two events does not depend on their order", () => {
  const readEvent = (outcomes: readonly string[]) =>
    createEventFingerprint({
      title: "Acme award winner",
      legs: outcomes.map((outcome) => `Acme award winner: ${outcome}`),
      legCount: outcomes.length,
      closeAt: null,
      expectedResolutionAt: null,
    });
  const overlap = (a: readonly string[], b: readonly string[]) =>
    compareEvents(readEvent(a), readEvent(b), WORD_WEIGHTS).features.outcome_overlap;
  assert.equal(overlap(["Ann Lee", "Bo Chen"], ["Bo Chen", "Ann Lee"]), 1);
  assert.equal(overlap(["Ann Lee"], ["Bo Chen", "Ann Lee"]), 1);
  const similar = ["Ann Lee", "Ann Lee Adams"];
  const different = ["Ann Lee", "Bo Chen"];
  assert.equal(overlap(similar, different), overlap(different, similar));
});

test("an event compared with itself has full coverage and no conflict", () => {
  fc.assert(
    fc.property(event, (a) => {
      const comparison = compareEvents(a, a, WORD_WEIGHTS);
      assert.equal(comparison.features.same_core, 1);
      assert.ok(Math.abs(comparison.features.coverage_min - 1) < 1e-9);
      for (const name of UNMATCHED) assert.equal(comparison.features[name], 0, name);
      assert.equal(comparison.features.size_differs, 0);
      assert.deepEqual(findEventVetoes(comparison), []);
    }),
  );
});

test("different verbs differ in the manner, and different events after `before` are one difference of the condition", () => {
  const { features, scopes } = compareMarkets(
    read("Will Ann Lee announce a tour before GTA VI?"),
    read("Will Ann Lee postpone a tour before the midterms?"),
    WORD_WEIGHTS,
  );
  assert.equal(scopes.relations.get("manner"), "differs");
  assert.equal(scopes.relations.get("condition"), "same");
  assert.equal(features.strict_differs, 1);
  assert.equal(features.condition_differs, 1);
});

describe("nothing_differs", () => {
  const differ = (a: string, b: string) => compareMarkets(read(a), read(b), WORD_WEIGHTS).features.nothing_differs;
  test("is 1 for the same title", () =>
    assert.equal(differ("Will Ann Lee win in Ohio?", "Will Ann Lee win in Ohio?"), 1));

  test("is 0 for another date", () =>
    assert.equal(differ("Will Ann Lee win on June 3, 2026?", "Will Ann Lee win on June 4, 2026?"), 0));

  for (const [what, other] of [
    ["name", "Will Bo Chen win in Ohio?"],
    ["place", "Will Ann Lee win in Texas?"],
    ["threshold", "Will Ann Lee win above 50% in Ohio?"],
    ["stage", "Will Ann Lee win the primary in Ohio?"],
    ["bet", "Will Ann Lee win a majority in Ohio?"],
  ] as const)
    test(`is 0 for another ${what}`, () => assert.equal(differ("Will Ann Lee win in Ohio?", other), 0));
});

describe("games", () => {
  const HOUR_MS = 3_600_000;
  const game = (title: string, decidedAt: number | null = null) =>
    createFingerprint({ title, outcomeLabel: null, eventTitle: null, closeAt: null, expectedResolutionAt: decidedAt });
  const compare = (a: string, b: string) => compareMarkets(game(a), game(b), WORD_WEIGHTS);

  test("the order and the spelling of the sides do not matter", () => {
    for (const other of ["Heat vs Lakers", "Miami Heat @ Los Angeles Lakers", "Los Angeles L vs. Miami: winner"]) {
      const { features, hasOtherGame } = compare("Lakers vs Heat", other);
      assert.equal(features.fixture_same, 1, other);
      assert.equal(hasOtherGame, false, other);
    }
  });

  test("games of other teams of the same cities are other games", () =>
    assert.equal(compare("Lakers vs Suns", "Sparks vs Mercury").hasOtherGame, true));

  test("games that are decided more than 14 hours apart are other games", () => {
    const first = game("Lakers vs Heat", 0);
    const isOther = (hours: number | null) =>
      compareMarkets(first, game("Heat vs Lakers", hours === null ? null : hours * HOUR_MS), WORD_WEIGHTS).hasOtherGame;
    assert.deepEqual([0, 14, 15, -15, null].map(isOther), [false, false, true, true, false]);
  });

  const sides: readonly (readonly [a: string, b: string, areOpposite: boolean, isOther: boolean])[] = [
    ["Lakers vs. Heat - Lakers", "Lakers vs. Heat - Heat", true, false],
    ["Lakers vs. Heat - Lakers", "Heat vs. Lakers - Heat", true, false],
    ["Lakers vs. Heat - Lakers", "Heat vs. Lakers - Lakers", false, false],
    ["Ann Lee vs. Bo Chen - Ann Lee", "Ann Lee vs. Bo Chen: Bo Chen to win", true, false],
    ["Arsenal vs Chelsea: Arsenal to win", "Arsenal vs Chelsea: Chelsea to win", false, true],
    ["Arsenal vs Chelsea: Arsenal to win", "Chelsea vs Arsenal: Arsenal to win", false, false],
    ["Arsenal vs Chelsea: Arsenal to win", "Arsenal vs Chelsea: draw", false, true],
  ];
  for (const [a, b, areOpposite, isOther] of sides)
    test(`"${a}" and "${b}" ${areOpposite ? "are opposite" : isOther ? "have other outcomes" : "are the same side"}`, () => {
      const { areOppositeSides, hasOtherSubject } = compare(a, b);
      assert.deepEqual(
        { areOppositeSides, hasOtherSubject },
        { areOppositeSides: areOpposite, hasOtherSubject: isOther },
      );
    });
});
