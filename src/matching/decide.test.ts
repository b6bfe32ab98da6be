import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  calibrateForBoard,
  decideEvents,
  decideMarkets,
  isSameProposition,
  logisticScore,
  MATCH_DECISION_MIN,
  type MatchDecision,
  type Veto,
} from "./decide.ts";
import { compareEvents } from "./event-features.ts";
import { createEventFingerprint } from "./event-fingerprint.ts";
import { compareMarkets } from "./features.ts";
import { createFingerprint } from "./fingerprint.ts";
import type { MatchRelation } from "./model.ts";
import { MATCHING_COEFFICIENTS, WORD_WEIGHTS } from "./model-data.ts";

const CLOSE_AT = Date.UTC(2026, 11, 31);

const fingerprintOf = (title: string, eventTitle: string | null) =>
  createFingerprint({
    title,
    outcomeLabel: null,
    eventTitle,
    closeAt: CLOSE_AT,
    expectedResolutionAt: null,
  });

function decide(a: string, b: string, eventTitle: string | null = null): MatchDecision {
  const comparison = compareMarkets(fingerprintOf(a, eventTitle), fingerprintOf(b, eventTitle), WORD_WEIGHTS);
  return decideMarkets(comparison, MATCHING_COEFFICIENTS);
}

function decideEventTitles(a: string, b: string): MatchDecision {
  const [first, second] = [a, b].map((title) =>
    createEventFingerprint({ title, legs: [], legCount: null, closeAt: CLOSE_AT, expectedResolutionAt: null }),
  ) as [ReturnType<typeof createEventFingerprint>, ReturnType<typeof createEventFingerprint>];
  return decideEvents(compareEvents(first, second, WORD_WEIGHTS), MATCHING_COEFFICIENTS);
}

const REVERSED: Readonly<Record<string, MatchRelation>> = { subset: "superset", superset: "subset" };

describe("decideMarkets: the same question in other words", () => {
  const pairs: readonly (readonly [a: string, b: string])[] = [
    ["Will the Lakers win the 2027 NBA Finals?", "Will the Lakers win the 2027 Pro Basketball Championship?"],
    ["Will Bitcoin reach $150k before 2027?", "Bitcoin above $150,000 by December 31, 2026?"],
    ["Will Norway win Eurovision 2027?", "Eurovision 2027: Will Norway win?"],
    ["Will Ann Lee be the 2028 Democratic nominee for president?", "Ann Lee: 2028 Democratic presidential nominee?"],
    ["Will the Lakers win the NBA in 2027?", "Will the Lakers win the 2027 NBA title?"],
    ["Kansas City Chiefs to win NFL 2027?", "Will the Kansas City Chiefs win the 2027 Super Bowl?"],
    ["Will GTA VI be released before 2027?", "GTA 6 released by December 31, 2026?"],
    ["Will the GOP win the Ohio Senate race?", "Republicans win the Senate race in Ohio?"],
    ["Los Angeles L vs. Miami - Los Angeles L", "Lakers @ Heat: Lakers to win"],
    ["Will Côte d’Ivoire win the 2027 Africa Cup of Nations?", "Ivory Coast to win AFCON 2027"],
    ["Will Swedish Prime Minister Ann Lee resign in 2026?", "Ann Lee out as PM of Sweden in 2026?"],
    ["Bitcoin Up or Down - May 10, 11:45PM-12:00AM ET", "Bitcoin up or down on May 11, 03:45 to 04:00 UTC?"],
    ["Ethereum above 2,315 on May 13, 2026, 5PM ET?", "Ethereum above $2,315 on May 13, 2026 at 21:00 UTC?"],
    [
      "Will Ann Lee resign by 11:59 PM ET on December 31, 2026?",
      "Will Ann Lee resign before January 1, 2027, 12:00 AM ET?",
    ],
    ["Will Narendra Modi be out as prime minister of India in 2026?", "Modi out in 2026?"],
  ];
  for (const [a, b] of pairs)
    test(`"${a}" matches "${b}"`, () => {
      const decision = decide(a, b);
      assert.equal(decision.relation, "identical", JSON.stringify(decision));
      assert.ok(decision.probability >= MATCH_DECISION_MIN.market, String(decision.probability));
      assert.deepEqual(decision.vetoes, []);
    });
});

/** Pairs of different questions with similar titles that contradict each other, and the veto that separates them. */
const CONTRADICTING: readonly (readonly [name: string, a: string, b: string, veto: Veto])[] = [
  [
    "a cumulative threshold and an exclusive bucket",
    "Will Bitcoin be above $160k on December 31, 2026?",
    "Will Bitcoin be between $150k and $160k on December 31, 2026?",
    "threshold",
  ],
  [
    "two thresholds in other units",
    "Will US inflation be above 3% in 2026?",
    "Will US inflation be above $3 in 2026?",
    "threshold",
  ],
  ["windows with a seam", "Will it rain in Paris May 11-17?", "Will it rain in Paris May 12-18?", "deadline"],
  ["adjacent days", "Highest temperature in Paris on June 3?", "Highest temperature in Paris on June 4?", "deadline"],
  [
    "remaining and becoming",
    "Will Ann Lee remain chair of Acme through 2026?",
    "Will Ann Lee become chair of Acme in 2026?",
    "polarity",
  ],
  ["two candidates", "Will Ann Lee win the Ohio Senate race?", "Will Bo Chen win the Ohio Senate race?", "outcome"],
  ["two parties", "Will Democrats win the Ohio race?", "Will the GOP win the Ohio race?", "party"],
  ["two states", "Will Democrats win the Ohio Senate race?", "Will Democrats win the Texas Senate race?", "place"],
  ["two districts", "Will Democrats win NC-01?", "Will Democrats win NC-02?", "seat"],
  ["two groups", "Will Ghana win Group C?", "Will Ghana win Group D?", "group"],
  ["two teams", "Will the Lakers win the NBA Finals?", "Will the Celtics win the NBA Finals?", "outcome"],
  ["two games of one team", "Lakers vs. Heat - Lakers", "Lakers vs. Celtics - Lakers", "fixture"],
  ["two sides of a game with a draw", "Arsenal vs Chelsea: Arsenal", "Arsenal vs Chelsea: Chelsea", "outcome"],
  ["two maps of a match", "Lakers vs Heat: Map 1 winner", "Lakers vs Heat: Map 2 winner", "part"],
  ["a map and the match", "Lakers vs Heat: Map 1 winner", "Lakers vs Heat: winner", "part"],
  ["the winner and the exact score of a game", "Lakers vs Heat", "Lakers vs Heat: exact score", "bet"],
  [
    "the highest and the lowest value",
    "Highest temperature in Paris on June 3?",
    "Lowest temperature in Paris on June 3?",
    "reading",
  ],
  [
    "two periods of time that touch",
    "Will Solana be up from 12:00 UTC to 12:15 UTC on May 3?",
    "Will Solana be up from 12:15 UTC to 12:30 UTC on May 3?",
    "deadline",
  ],
  ["two editions", "Will Norway win Eurovision 2026?", "Will Norway win Eurovision 2027?", "deadline"],
];

/** Pairs of different questions with similar titles that the fitted weights separate. */
const DIFFERENT: readonly (readonly [name: string, a: string, b: string])[] = [
  [
    "an event and its announcement",
    "Will Acme release the Foo phone by June 30?",
    "Will Acme announce the release of the Foo phone by June 30?",
  ],
  [
    "a race and a standalone question",
    "Will Acme or Globex launch a moon lander first?",
    "Will Acme launch a moon lander?",
  ],
  ["a question relative to another event", "Will GTA VI be released before the Foo phone?", "Will GTA VI be released?"],
  [
    "a question on a condition",
    "If it rains, will Ann Lee win the Ohio Senate race?",
    "Will Ann Lee win the Ohio Senate race?",
  ],
  ["two offices", "Will Ann Lee win the Ohio Senate race?", "Will Ann Lee win the Ohio governor race?"],
  ["two chambers and one chamber", "Will Democrats win the Senate and House?", "Will Democrats win the Senate?"],
  ["nomination and election", "Will Ann Lee be the nominee in Ohio?", "Will Ann Lee be elected in Ohio?"],
  [
    "semi-final and final",
    "Will Ghana reach the World Cup semifinals in 2026?",
    "Will Ghana reach the World Cup final in 2026?",
  ],
  ["a group and the tournament", "Will Ghana win Group C at the World Cup?", "Will Ghana win the World Cup?"],
  ["a district and its state", "Will Democrats win NC-01?", "Will Democrats win North Carolina?"],
  ["match and half", "Will the Lakers win against Heat?", "Will the Lakers win the first half against Heat?"],
  [
    "private jobs and all jobs",
    "Private jobs added above 175,000 in the report of Jan 8, 2027?",
    "Will US jobs growth be above 175k in the January 8 report?",
  ],
  ["core and headline", "Core CPI above 3% in May 2026?", "CPI above 3% in May 2026?"],
  ["a spread and the winner of a game", "Lakers vs Heat: Lakers -5.5", "Lakers vs Heat: Lakers"],
  ["a delay and a release", "Will GTA VI be delayed?", "Will GTA VI be released in 2026?"],
  [
    "a nomination and its confirmation",
    "Will Ann Lee be nominated as Secretary of State in 2026?",
    "Will Ann Lee be confirmed as Secretary of State in 2026?",
  ],
  ["an acquisition and an IPO", "Will Acme be acquired in 2026?", "Will Acme IPO in 2026?"],
  ["a cut and a hike", "Will the Fed cut rates in June 2026?", "Will the Fed hike rates in June 2026?"],
  ["unrelated questions", "Will Ann Lee win the Ohio Senate race?", "Highest temperature in Paris on June 3?"],
];

const DATE_PATTERN = /\b(?:2026|June)\b/;
/** A date that both titles have makes a match more probable. */
const inYear = (title: string): string => title.replace(/\??$/, " in 2026?");

describe("decideMarkets: different questions", () => {
  for (const [name, a, b, veto] of CONTRADICTING)
    test(`${name} never match: ${veto}`, () => {
      for (const decision of [decide(a, b), decide(b, a)]) {
        assert.ok(decision.vetoes.includes(veto), JSON.stringify(decision));
        assert.equal(decision.relation, null);
        assert.equal(isSameProposition(decision, "market"), false);
        assert.ok(decision.probability < 0.01);
      }
    });

  for (const [name, a, b] of DIFFERENT) {
    const pairs = [[a, b] as const, ...(DATE_PATTERN.test(`${a} ${b}`) ? [] : [[inYear(a), inYear(b)] as const])];
    for (const [first, second] of pairs)
      test(`${name} do not match: "${first}"`, () => {
        for (const decision of [decide(first, second), decide(second, first)])
          assert.equal(isSameProposition(decision, "market"), false, JSON.stringify(decision));
      });
  }

  test("a dimension in which two games differ is one veto", () => {
    const { vetoes } = decide("Lakers vs Heat: Map 1 winner", "Lakers vs Heat: Map 2 winner");
    assert.deepEqual(vetoes, ["part"]);
  });

  const related: readonly (readonly [name: string, a: string, b: string, relation: MatchRelation, veto: Veto])[] = [
    [
      "a bucket at the edge of a cumulative threshold",
      "Will Bitcoin be above $150k on December 31, 2026?",
      "Will Bitcoin be between $150k and $160k on December 31, 2026?",
      "overlap",
      "threshold",
    ],
    [
      "a higher threshold",
      "Will Bitcoin reach $160k in 2026?",
      "Will Bitcoin reach $150k in 2026?",
      "subset",
      "threshold",
    ],
    ["a lower floor", "Will Bitcoin dip to $40k in 2026?", "Will Bitcoin dip to $50k in 2026?", "subset", "threshold"],
    [
      "an earlier deadline",
      "Will Acme launch a moon lander by June 30, 2026?",
      "Will Acme launch a moon lander by September 30, 2026?",
      "subset",
      "deadline",
    ],
  ];
  for (const [name, a, b, relation, veto] of related)
    test(`${name} is related to the other question (${relation}) and does not match it`, () => {
      assert.equal(decide(a, b).relation, relation);
      assert.equal(decide(b, a).relation, REVERSED[relation] ?? relation);
      assert.deepEqual(decide(a, b).vetoes, [veto]);
      assert.equal(isSameProposition(decide(a, b), "market"), false);
    });

  const inverse: readonly (readonly [name: string, a: string, b: string])[] = [
    [
      "the same threshold with the opposite direction",
      "Will Bitcoin be above $150k on June 30?",
      "Will Bitcoin be below $150k on June 30?",
    ],
    ["a negated question", "Will Ann Lee win the Ohio Senate race?", "Will Ann Lee not win the Ohio Senate race?"],
    [
      "complementary framing",
      "Will Ann Lee remain chair of Acme through 2026?",
      "Will Ann Lee leave as chair of Acme in 2026?",
    ],
    [
      "a rise and a fall that meet at one threshold",
      "Will US inflation rise to 3% or higher in June 2026?",
      "Will US inflation fall below 3% in June 2026?",
    ],
    ["the other side of a game without a draw", "Lakers vs. Heat - Lakers", "Heat vs. Lakers - Heat"],
  ];
  for (const [name, a, b] of inverse)
    test(`${name} swaps yes and no`, () => {
      for (const decision of [decide(a, b), decide(b, a)]) {
        assert.equal(decision.relation, "inverse");
        assert.deepEqual(decision.vetoes, []);
        assert.equal(isSameProposition(decision, "market"), true);
      }
    });

  test("two inversions are the same question", () => {
    const decision = decide("Will Bitcoin be above $150k on June 30?", "Will Bitcoin not be below $150k on June 30?");
    assert.equal(decision.relation, "identical");
    assert.equal(isSameProposition(decision, "market"), true);
  });

  test("complementary questions with other deadlines do not match", () => {
    const decision = decide("Will Ann Lee remain chair through 2026?", "Will Ann Lee leave as chair by June 30, 2026?");
    assert.deepEqual(decision.vetoes, ["deadline"]);
    assert.equal(decision.relation, null);
  });

  test("two vetoes give no relation", () => {
    const decision = decide("Will Bitcoin reach $160k by June 30?", "Will Bitcoin reach $150k by September 30?");
    assert.equal(decision.relation, null);
    assert.deepEqual([...decision.vetoes].sort(), ["deadline", "threshold"]);
  });
});

describe("decideEvents", () => {
  test("the same event in other words matches", () => {
    const decision = decideEventTitles("Eurovision 2027 winner", "Who will win Eurovision 2027?");
    assert.equal(decision.relation, "identical");
    assert.ok(isSameProposition(decision, "event"), String(decision.probability));
  });

  const different: readonly (readonly [name: string, a: string, b: string, veto: Veto])[] = [
    ["two fixtures", "Lakers vs Heat", "Lakers vs Celtics", "fixture"],
    ["two editions", "Eurovision 2026 winner", "Eurovision 2027 winner", "deadline"],
    ["two states", "Ohio Senate race winner", "Texas Senate race winner", "place"],
    ["winner and exact score", "Lakers vs Heat", "Lakers vs Heat: exact score", "bet"],
  ];
  for (const [name, a, b, veto] of different)
    test(`${name} never match: ${veto}`, () => {
      const decision = decideEventTitles(a, b);
      assert.ok(decision.vetoes.includes(veto), JSON.stringify(decision));
      assert.equal(decision.relation, null);
    });

  for (const [name, a, b] of [
    ["a fixture and no fixture", "Lakers vs Heat", "Lakers season"],
    ["primary and election", "Ohio Senate primary", "Ohio Senate election"],
  ] as const)
    test(`${name} do not match`, () => {
      for (const decision of [decideEventTitles(a, b), decideEventTitles(b, a)])
        assert.equal(isSameProposition(decision, "event"), false, JSON.stringify(decision));
    });
});

describe("the logistic model", () => {
  test("adds the weighted features to the intercept; a missing feature is 0", () => {
    const model = { intercept: 1, weights: { a: 2, b: -3 } };
    assert.equal(logisticScore(model, { a: 0.5, other: 9 }), 2);
    assert.equal(logisticScore(model, { a: 1, b: 1 }), 0);
  });

  test("the calibration for a board shifts the log-odds, and maps 0 and 1 to values strictly between 0 and 1", () => {
    const shifted = { ...MATCHING_COEFFICIENTS, board: { slope: 1, shift: -Math.log(3) } };
    assert.ok(Math.abs(calibrateForBoard(0.5, shifted) - 0.25) < 1e-12);
    for (const probability of [0, 1]) {
      const calibrated = calibrateForBoard(probability, shifted);
      assert.ok(calibrated > 0 && calibrated < 1);
    }
  });

  test("only identical and inverse relations with enough probability are the same proposition", () => {
    const decision = (relation: MatchRelation | null, probability: number) => ({ relation, probability, vetoes: [] });
    assert.equal(isSameProposition(decision("identical", MATCH_DECISION_MIN.market), "market"), true);
    assert.equal(isSameProposition(decision("inverse", 1), "market"), true);
    assert.equal(isSameProposition(decision("identical", MATCH_DECISION_MIN.market - 0.001), "market"), false);
    for (const relation of ["subset", "superset", "overlap", null] as const)
      assert.equal(isSameProposition(decision(relation, 1), "market"), false);
  });
});
