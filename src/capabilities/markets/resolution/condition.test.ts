import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { findCondition, isFallbackClause, type Polarity, polarityOf } from "./condition.ts";
import { splitSentences, TEXT_LENGTH_MAX } from "./plain-text.ts";

const conditionOf = (text: string) => findCondition(text, splitSentences(text));
const polarityOfRules = (title: string, rules: string) => {
  const condition = conditionOf(rules);
  return polarityOf(title, condition, condition?.end ?? 0);
};

test("finds the first sentence with a condition, in each venue's order of words", () => {
  const cases: Readonly<Record<string, string>> = {
    'Intro. This market will resolve to "Yes" if it rains. Otherwise, this market will resolve to "No".':
      "if it rains.",
    "If it rains, then the market resolves to Yes.": "If it rains, then the market ",
    "Resolves YES if it rains.": "if it rains.",
    "This market will immediately resolve to “Yes” if it rains.": "if it rains.",
    'This market will resolve to "Up" if the price rises. Otherwise "Down".': "if the price rises.",
    "This is a market on whether it rains. If it only drizzles, the market resolves to No.":
      "market on whether it rains.",
    'If no race is held, this market resolves to "No". This market will resolve to "Yes" if A wins.': "if A wins.",
  };
  for (const [text, expected] of Object.entries(cases)) assert.equal(conditionOf(text)?.text, expected, text);
  assert.equal(conditionOf('This market will resolve to "No" if it rains.')?.target, "no");
  assert.equal(conditionOf("This market resolves according to the winner."), null);
});

test("recognises clauses for a cancelled, postponed or undecided event", () => {
  const fallbacks = [
    'If no winner is declared by July 31, 2026, this market will resolve to "Other".',
    "If neither is released by July 31, 2026, this market will resolve 50-50.",
    "If the match is canceled or postponed, this market will resolve to 50-50.",
    'If the result of this election isn\'t known by May 31, 2026, the market will resolve to "No".',
    "In the event that the season is not completed by May 1, 2027, this market resolves to No.",
  ];
  for (const text of fallbacks) assert.ok(isFallbackClause(text), text);
  for (const text of [
    "If it rains, then the market resolves to Yes.",
    "If Lydonia does not default, then the market resolves to Yes.",
  ])
    assert.ok(!isFallbackClause(text), text);
});

test("finds what YES pays for from the title and the rules together", () => {
  const cases: readonly (readonly [title: string, rules: string, expected: Polarity])[] = [
    ["Will A resign by May?", 'Resolves to "Yes" if A resigns by May 1, 2027.', "occurs"],
    ["Will A remain in office?", 'Resolves to "No" if A leaves office.', "persists"],
    ["Will A remain in office?", 'Resolves to "Yes" if A remains in office.', "persists"],
    ["No strike before May?", "If no strike begins, then the market resolves to Yes.", "persists"],
    ["A no longer leader by May?", 'Resolves to "Yes" if A ceases to lead.', "occurs"],
    [
      "Airspace closed by June 30?",
      "Resolves to “Yes” if A closes its airspace, that is not solely due to weather, by June 30.",
      "occurs",
    ],
    ["Will A stay out of the war?", 'Resolves to "Yes" if A enters the war.', null],
    ["Will A run again?", 'Resolves to "Yes" if A announces that he will not seek office.', null],
    ["Will A not run by May?", 'Resolves to "Yes" if A announces that he will not seek office.', null],
    ["Will A not remain leader?", "", null],
    ["Vote of no confidence in A?", "", "occurs"],
    ["A has no 1 song?", "", "occurs"],
    ["Will A build it without help?", "", null],
    ["Will a member who was not elected be seated?", "", null],
  ];
  for (const [title, rules, expected] of cases)
    assert.equal(polarityOfRules(title, rules), expected, `${title} ${rules}`);
});

test("a condition for NO has the opposite polarity of the same condition for YES", () => {
  const clauses = fc.constantFrom(
    "it rains",
    "A remains leader",
    "no strike begins",
    "A does not leave",
    "A is charged",
  );
  fc.assert(
    fc.property(clauses, (clause) => {
      const ofYes = conditionOf(`Resolves to "Yes" if ${clause}.`);
      const ofNo = conditionOf(`Resolves to "No" if ${clause}.`);
      const read = (condition: typeof ofYes, title: string) => polarityOf(title, condition, condition?.end ?? 0);
      const isEvent = read(ofYes, "Will it happen?") === "occurs";
      return isEvent ? read(ofNo, "Will A remain?") === "persists" : read(ofNo, "Will it happen?") === "occurs";
    }),
  );
});

// A pattern that backtracks without bound runs into the timeout of the tests.
test("texts that could cause excessive backtracking are parsed in bounded time and without an error", () => {
  const parts = ["if ", "resolves to ", "If the ", "not ", "announces ", "(", ", that ", "no ", "resolve ", "or not "];
  for (const part of parts) {
    const text = part.repeat(TEXT_LENGTH_MAX / part.length);
    assert.doesNotThrow(() => polarityOfRules(text, text), part);
  }
});
