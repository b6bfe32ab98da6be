import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sampleMarket } from "../../../test/support/markets/market-samples.ts";
import type { MarketListing, MarketSnapshot } from "../../domain/market.ts";
import { findLadders, findMarketLadders } from "./find-ladders.ts";
import { parseMarketQuestion, skeletonOf } from "./parse-question.ts";

const UNKNOWN = { closeAt: null, rules: null };

/** Returns the ladders of the questions, from the widest question to the narrowest. */
const ladders = (...questions: readonly string[]) =>
  findLadders(questions.map((text) => parseMarketQuestion(text, UNKNOWN))).map((ladder) =>
    ladder.map((index) => questions[index]),
  );

test("orders thresholds by their direction, for any order and format of the numbers", () => {
  for (const expected of [
    ["CPI in June — Above 3.0%", "CPI in June — Above 3.1%", "CPI in June — Above 3.2%"],
    [
      "Bitcoin above $95,000 on December 5?",
      "Bitcoin above $100k on December 5?",
      "Bitcoin above $1.5M on December 5?",
    ],
    ["Will more than 50,000 jobs be added?", "Will more than 75,000 jobs be added?"],
    ["Turnout at least 5 million", "Turnout at least 60 million"],
    ["High temperature: 70° or above", "High temperature: 80° or above"],
    ["GDP growth > -0.5%", "GDP growth >0.5%"],
    ["Price below $90", "Price below $80"],
    ["Seats: 220 or fewer", "Seats: 210 or fewer"],
    ["Gas under 3.50 on Dec 5, 2026", "Gas under 3.25 on Dec 5, 2026"],
  ])
    assert.deepEqual(ladders(...expected.toReversed()), [expected], expected[0]);
});

test("orders deadlines: a later deadline is wider", () => {
  for (const expected of [
    ["Will it happen by June 30, 2027?", "Will it happen by Dec 31, 2026?"],
    ["Will it happen before December 5, 2026, 14:30 UTC?", "Will it happen before December 5, 2026, 09:00 UTC?"],
  ])
    assert.deepEqual(ladders(...expected.toReversed()), [expected]);
});

test("ambiguous questions are not a ladder", () => {
  for (const [reason, questions] of Object.entries({
    "no comparison": ["Rate cut of 25 bps", "Rate cut of 50 bps"],
    "other comparison": ["Price above 90", "Price below 80"],
    "strict and not strict": ["Price above 90", "Price at least 80"],
    "other text": ["Bitcoin above 90", "Ethereum above 80"],
    "other unit": ["Weight above 90 kg", "Weight above 80 lb"],
    "both the threshold and the day differ": ["Above 3% on 5 May", "Above 4% on 6 May"],
    "a range": ["Between 3 and 4", "Between 4 and 5"],
    "joined numbers": ["Score above 3-4", "Score above 5-6"],
    negation: ["Will not be above 3", "Will not be above 4"],
    failure: ["Will GDP fail to reach at least 3%?", "Will GDP fail to reach at least 4%?"],
    "a state that lasts": ["Will she remain CEO before May 5, 2026?", "Will she remain CEO before June 5, 2026?"],
    "not be above": ["Will it not be above 3?", "Will it not be above 4?"],
    condition: ["If the index is above 3000, will it rain?", "If the index is above 4000, will it rain?"],
    "state at a date": [
      "Will Alpha be the largest company by May 31, 2026?",
      "Will Alpha be the largest company by June 30, 2026?",
    ],
    "end of a month": ["Best model end of May 2026?", "Best model end of June 2026?"],
    "vague and exact": ["Will it launch by June 2026?", "Will it launch by June 15, 2026?"],
    "after a date": ["Will it open after May 5, 2026?", "Will it open after May 6, 2026?"],
    "reach, unknown direction": ["Will the rate reach 5%?", "Will the rate reach 6%?"],
    "range of days": ["Launch May 5-9, 2026", "Launch May 5-10, 2026"],
    "equal thresholds": ["Above 1,000 votes", "Above 1000 votes"],
    "dates without a year, close unknown": ["Will it happen by June 30?", "Will it happen by December 31?"],
    "on a date": ["Above 90 on June 30, 2026", "Above 90 on June 29, 2026"],
    "unknown time zone": ["Before May 5, 2026, 14:30 UTC", "Before May 6, 2026, 14:30 IST"],
    "time of only one": ["Before May 5, 2026, 14:30 UTC", "Before May 6, 2026 UTC"],
    "name with a number": ["Will GPT-5 be released?", "Will GPT-6 be released?"],
    "one question": ["Above 5"],
    "no number": ["Will it rain?", "Will it snow?"],
  }))
    assert.deepEqual(ladders(...questions), [], reason);
});

test("recognises the wordings of thresholds", () => {
  for (const expected of [
    ["Fed cuts rates by 25+ bps", "Fed cuts rates by 50+ bps"],
    ["Ann Archer: 4+ strikeouts?", "Ann Archer: 5+ strikeouts?"],
    ["Cut of 25 basis points or more", "Cut of 50 bps or more"],
    ["Rate ≥ 3.5%", "Rate ≥3.75 %", "Rate ≥ 4 percent"],
    ["1 cut or more in 2026", "2 cuts or more in 2026"],
    ["Followers: 100,000 or more", "Followers: 1.2 million or more"],
    ["No higher than 50k jobs", "No higher than 25k jobs"],
    ["Will Bitcoin dip to $60k in March?", "Will Bitcoin dip to $55,000 in March?"],
    ["Gold hits (HIGH) $5,500 by end of June 2026", "Gold hits (HIGH) $6,000 by end of June 2026"],
    ["9.0 or above earthquake before 2027?", "10.0 or above earthquake before 2027?"],
  ])
    assert.deepEqual(ladders(...expected.toReversed()), [expected], expected[0]);
});

test("recognises the wordings of deadlines", () => {
  for (const expected of [
    ["Ceasefire by end of 2026?", "Ceasefire by Sept. 30, 2026?", "Ceasefire by 31 March 2026?"],
    ["Will we land before 2032?", "Will we land before 2030?"],
    ["Launch by the end of Q3 2026", "Launch by the end of Q2 2026"],
    ["Launch by 2026-06-30", "Launch by June 1, 2026"],
    ["Before May 6, 2026, 14:30 EST", "Before May 5, 2026, 14:30 UTC"],
    ["Before May 5, 2026, 8 AM PT", "Before May 5, 2026, 10:30 ET", "Before May 5, 2026, 22:30 JST"],
  ])
    assert.deepEqual(ladders(...expected.toReversed()), [expected], expected[0]);
});

const market = (title: string, parts: Partial<MarketListing> = {}) =>
  sampleMarket(title, { listing: { title, rules: null, ...parts } });
const titlesOf = (found: readonly (readonly MarketSnapshot[])[]) =>
  found.map((ladder) => ladder.map(({ listing }) => listing.title));

test("a date without a year is that of the market's close, and without a close near it there is no ladder", () => {
  const closing = (title: string, closeAt: string) => market(title, { closeAt: Date.parse(closeAt) });
  const winter = closing("Will it open by January 31?", "2027-01-31T23:00Z");
  const autumn = closing("Will it open by November 30?", "2026-12-01T04:00Z");
  assert.deepEqual(titlesOf(findMarketLadders([autumn, winter])), [[winter.listing.title, autumn.listing.title]]);
  const sharedClose = "2027-06-30T00:00Z";
  assert.deepEqual(findMarketLadders([winter, autumn].map(({ listing }) => closing(listing.title, sharedClose))), []);
});

test("labels that differ from the title in case are not repeated, and a repeated threshold is one threshold", () => {
  const rungs = [
    market("Will the INDEX close ABOVE 4,000?", { outcomeLabel: "above 4,000" }),
    market("Will the index close above 5,000?", { outcomeLabel: "$5k" }),
    market("Will the index close above 6,000?", { outcomeLabel: "$6k" }),
  ];
  assert.deepEqual(titlesOf(findMarketLadders(rungs)), [
    ["Will the index close above 5,000?", "Will the index close above 6,000?"],
  ]);
  const named = rungs.map(({ listing }) => market(listing.title, { outcomeLabel: listing.title.toUpperCase() }));
  assert.equal(findMarketLadders(named)[0]?.length, 3);
});

test("the rules decide whether `reach` means upwards or downwards", () => {
  const reach = (price: string, rules: string) => market(`Will oil reach $${price}?`, { rules });
  const up = (price: string) => reach(price, `Resolves YES if a candle has a high equal to or greater than $${price}.`);
  const down = (price: string) => reach(price, `Resolves YES if a candle has a low equal to or below $${price}.`);
  assert.deepEqual(titlesOf(findMarketLadders([up("90"), up("80")])), [["Will oil reach $80?", "Will oil reach $90?"]]);
  assert.deepEqual(titlesOf(findMarketLadders([down("90"), down("80")])), [
    ["Will oil reach $90?", "Will oil reach $80?"],
  ]);
  assert.deepEqual(findMarketLadders([up("90"), down("80")]), []);
});

test("markets of two venues, or with different rules, are not a ladder", () => {
  const [low, high] = ["Index above 10", "Index above 20"] as const;
  assert.equal(findMarketLadders([market(low), market(high)]).length, 1);
  assert.deepEqual(findMarketLadders([market(low), market(high, { venue: "beta" })]), []);
  assert.deepEqual(findMarketLadders([market(low), market(high, { rules: "At the close of the day." })]), []);
  const rules = (value: number, source: string) => ({ rules: `YES if ${source} reports more than ${value}.` });
  assert.equal(findMarketLadders([market(low, rules(10, "NOAA")), market(high, rules(20, "NOAA"))]).length, 1);
  assert.deepEqual(findMarketLadders([market(low, rules(10, "NOAA")), market(high, rules(20, "NASA"))]), []);
});

test("values determine the order, for any order, case, spaces and punctuation of the questions", () => {
  const words = fc.constantFrom("Lake level", "Will the treaty count", "GDP growth in May 2026");
  const comparison = fc.constantFrom("above", "at least", "below", ">", "<=", "more than");
  const values = fc.uniqueArray(fc.integer({ min: 1, max: 9_999 }), { minLength: 2, maxLength: 6 });
  const style = fc.record({
    isUpper: fc.boolean(),
    space: fc.constantFrom(" ", "  ", "\u00a0"),
    end: fc.constantFrom("", "?", " ?", "."),
    hasCommas: fc.boolean(),
  });
  fc.assert(
    fc.property(
      words,
      comparison,
      values,
      fc.array(style, { minLength: 6, maxLength: 6 }),
      (text, compare, list, styles) => {
        const questions = list.map((value, index) => {
          const { isUpper = false, space = " ", end = "", hasCommas = false } = styles[index] ?? {};
          const number = hasCommas ? value.toLocaleString("en-US") : `${value}`;
          const question = `${text} ${compare} ${number}${end}`.replaceAll(" ", space);
          return isUpper ? question.toUpperCase() : question;
        });
        const isBelow = compare === "below" || compare === "<=";
        const sorted = list.toSorted((a, b) => (isBelow ? b - a : a - b));
        const found = findLadders(questions.map((question) => parseMarketQuestion(question, UNKNOWN)));
        assert.deepEqual(
          found.map((ladder) => ladder.map((index) => list[index])),
          [sorted],
        );
      },
    ),
    { numRuns: 300, seed: 3 },
  );
});

test("unrelated texts never form a ladder", () => {
  const word = fc.stringMatching(/^[b-y][aeiou][b-z]{2,6}$/);
  fc.assert(
    fc.property(fc.uniqueArray(word, { minLength: 2, maxLength: 6, selector: singular }), (names) => {
      assert.deepEqual(ladders(...names.map((name, index) => `${name} above ${index}`)), []);
      assert.deepEqual(ladders(...names.map((name, index) => `Will ${name} win by June ${index + 1}, 2026?`)), []);
    }),
    { numRuns: 300, seed: 4 },
  );
});
const singular = (word: string) => word.replace(/s$/, "");

test("an event can have two ladders, and questions outside of them", () => {
  assert.deepEqual(ladders("Above 5", "Below 2", "Above 4", "Exactly 3", "Below 1"), [
    ["Above 4", "Above 5"],
    ["Below 2", "Below 1"],
  ]);
});

test("rules that differ only in numbers and dates have the same skeleton", () => {
  assert.equal(
    skeletonOf("Resolves YES if above 3.1% on May 5, 2026.", null),
    skeletonOf("Resolves YES if above 3.2% on June 12, 2026.", null),
  );
  assert.notEqual(skeletonOf("Resolves YES if above 3.1%.", null), skeletonOf("Resolves YES if below 3.1%.", null));
});

test("long and adversarial texts are parsed in bounded time and never throw", () => {
  for (const text of [
    "9".repeat(200_000),
    "above 1,".repeat(20_000),
    "jan ".repeat(50_000),
    "",
    "above ",
    "§".repeat(999),
  ])
    assert.doesNotThrow(() => parseMarketQuestion(text, UNKNOWN));
});
