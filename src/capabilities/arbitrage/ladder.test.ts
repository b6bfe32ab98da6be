import assert from "node:assert/strict";
import { test } from "node:test";
import { findLadders, parseQuestion, skeletonOf } from "./ladder.ts";

/** Returns the ladders of the questions, from the widest question to the narrowest. */
const ladders = (...questions: readonly string[]) =>
  findLadders(questions.map(parseQuestion)).map((ladder) => ladder.map((index) => questions[index]));

test("orders thresholds by their direction, whatever the order and the format of the numbers", () => {
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
    ["GDP growth > -0.5%", "GDP growth > 0.5%"],
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

test("doubtful questions are not a ladder", () => {
  for (const [reason, questions] of Object.entries({
    "no comparison": ["Rate cut of 25 bps", "Rate cut of 50 bps"],
    "other comparison": ["Price above 90", "Price below 80"],
    "strict and not strict": ["Price above 90", "Price at least 80"],
    "other text": ["Bitcoin above 90", "Ethereum above 80"],
    "other unit": ["Weight above 90 kg", "Weight above 80 lb"],
    "two numbers differ": ["Above 3% on 5 May", "Above 4% on 6 May"],
    "a range": ["Between 3 and 4", "Between 4 and 5"],
    "joined numbers": ["Score above 3-4", "Score above 5-6"],
    negation: ["Will not be above 3", "Will not be above 4"],
    failure: ["Will GDP fail to reach at least 3%?", "Will GDP fail to reach at least 4%?"],
    "a state that lasts": ["Will she remain CEO before May 5, 2026?", "Will she remain CEO before June 5, 2026?"],
    "no more than": ["No more than 3 cuts", "No more than 4 cuts"],
    "equal thresholds": ["Above 1,000 votes", "Above 1000 votes"],
    "dates without a year": ["Will it happen by June 30?", "Will it happen by December 31?"],
    "on a date": ["Above 90 on June 30, 2026", "Above 90 on June 29, 2026"],
    "other time zone": ["Before May 5, 2026, 14:30 UTC", "Before May 6, 2026, 14:30 EST"],
    "time of only one": ["Before May 5, 2026, 14:30 UTC", "Before May 6, 2026 UTC"],
    "name with a number": ["Will GPT-5 be released?", "Will GPT-6 be released?"],
    "one question": ["Above 5"],
    "no number": ["Will it rain?", "Will it snow?"],
  }))
    assert.deepEqual(ladders(...questions), [], reason);
});

test("an event can have two ladders, and questions outside of them", () => {
  assert.deepEqual(ladders("Above 5", "Below 2", "Above 4", "Exactly 3", "Below 1"), [
    ["Above 4", "Above 5"],
    ["Below 2", "Below 1"],
  ]);
});

test("rules that differ only in numbers and dates have the same skeleton", () => {
  assert.equal(
    skeletonOf("Resolves YES if above 3.1% on May 5, 2026."),
    skeletonOf("Resolves YES if above 3.2% on June 12, 2026."),
  );
  assert.notEqual(skeletonOf("Resolves YES if above 3.1%."), skeletonOf("Resolves YES if below 3.1%."));
});

test("long and hostile texts are parsed in time and never throw", () => {
  for (const text of [
    "9".repeat(200_000),
    "above 1,".repeat(20_000),
    "jan ".repeat(50_000),
    "",
    "above ",
    "§".repeat(999),
  ])
    assert.doesNotThrow(() => parseQuestion(text));
  assert.equal(parseQuestion(`above 5 ${"x".repeat(1_000)}`), null);
});
