import assert from "node:assert/strict";
import { test } from "node:test";
import { type AnsweringMarket, fitQuestion, parseQuestion } from "./fit.ts";

const NOW = Date.UTC(2026, 10, 21);

const market = (title: string, parts: Partial<AnsweringMarket> = {}): AnsweringMarket => ({
  title,
  outcomeLabel: null,
  eventTitle: null,
  closeAt: null,
  expectedResolutionAt: null,
  ...parts,
});

function fit(question: string, candidate: AnsweringMarket | string) {
  const read = parseQuestion(question, NOW);
  assert.ok(read !== null, question);
  return fitQuestion(read, typeof candidate === "string" ? market(candidate) : candidate);
}

const fits = (question: string, candidate: AnsweringMarket | string): boolean => fit(question, candidate).fits;

test("a paraphrase fits its market", () => {
  const pairs = [
    ["Fed rate cut in Mar 2027", "Will the Federal Reserve cut rates in March 2027?"],
    ["will the fed lower interest rates in march 2027?", "Will the Federal Reserve cut rates in March 2027?"],
    ["What are the odds that BTC is above 100k on Dec 31?", "Will Bitcoin be above $100,000 on December 31, 2026?"],
    ["bitcoin to break $100K by 31 December", "Bitcoin above 100,000 on Dec 31?"],
    ["Fed hikes by a quarter point in June", "Will the Fed raise rates by 25 bps at its June meeting?"],
    ["0.25% Fed cut in June", "Fed cut of 25bps in June?"],
    ["inflation at least 3% in April", "CPI 3.0% or more in April?"],
    ["Marta Oduya nominated by the Democrats", "Will Marta Oduya win the Democratic nomination?"],
    ["Will Real Norvik beat Athletic Sund?", "Real Norvik vs. Athletic Sund: Real Norvik"],
    ["truce between Avaria and Belmark before June 2027", "Avaria x Belmark ceasefire by May 31, 2027?"],
    ["Avaria recession in 2026", "Avaria recession before Jan 1, 2027?"],
    ["Avaria recession before January 1, 2027", "Avaria recession by the end of 2026?"],
    ["three Fed cuts next year", "Will there be 3 Fed cuts in 2027?"],
    ["May CPI above 2%", "Will CPI be above 2% in May?"],
  ] as const;
  for (const [question, title] of pairs) assert.equal(fits(question, title), true, question);
});

test("a market with another month, day, year, number, name, direction or negation does not fit", () => {
  const pairs = [
    ["Fed rate cut in March", "Will the Fed cut rates in June?"],
    ["Fed rate cut in May", "Will the Fed cut rates in March?"],
    ["Fed rate cut in March 2027", "Will the Fed cut rates in March 2028?"],
    ["Bitcoin above 100k on December 24", "Will Bitcoin be above $100,000 on December 31?"],
    ["Bitcoin above 100k", "Will Bitcoin be above $110,000?"],
    ["Bitcoin above 100", "Will Bitcoin be above $100,000?"],
    ["Bitcoin below 100k", "Will Bitcoin be above $100,000?"],
    ["Bitcoin above 100k", "Will Bitcoin be between $90,000 and $100,000?"],
    ["Fed cut of 50 bps in June", "Fed cut of 25 bps in June?"],
    ["25% tariff on Avaria", "Tariff on Avaria of 25 bps?"],
    ["Will the Fed not cut rates in March?", "Will the Fed cut rates in March?"],
    ["Will the Fed cut rates in March?", "Will the Fed fail to cut rates in March?"],
    ["Fed hike in March", "Will the Fed cut rates in March?"],
    ["Will Anna Krell win the election?", "Will Berta Krell win the election?"],
    ["Will Athletic Sund beat Real Norvik?", "Will Real Norvik beat Athletic Sund?"],
    ["Avaria invades Belmark", "Will Belmark invade Avaria?"],
    ["Georgia election", "Will George win the election?"],
    ["shutdown before March 2027", "Shutdown in March 2027?"],
    ["shutdown after March 1", "Shutdown by March 1?"],
    ["Marta Oduya visits Belmark", "Will Marta Oduya visit Avaria?"],
    ["Match at 8:00 PM UTC: Norvik wins", "Match at 9:00 PM UTC: Norvik wins"],
    ["next year's recession", "Recession in 2026?"],
  ] as const;
  for (const [question, title] of pairs) assert.equal(fits(question, title), false, question);
});

test("the outcome and the title of the event belong to the text of a market", () => {
  const rung = market("What will the Fed do?", { outcomeLabel: "Cut 25 bps", eventTitle: "Fed decision in March" });
  assert.equal(fits("Fed 25 bps cut in March", rung), true);
  assert.equal(fits("Fed 50 bps cut in March", rung), false);
  const held = market("Fed makes no change after the June meeting?", { outcomeLabel: "No change" });
  assert.equal(fits("Fed makes no change after June meeting", held), true);
});

test("the close of a market supplies the month, the day and the year that its text omits", () => {
  const closing = market("Will the Fed cut rates?", { closeAt: Date.UTC(2027, 2, 17, 18) });
  assert.equal(fits("Fed rate cut in March 2027", closing), true);
  assert.equal(fits("Fed rate cut on March 17", closing), true);
  for (const other of ["Fed rate cut in April", "Fed rate cut in March 2026", "Fed rate cut on March 18"])
    assert.equal(fits(other, closing), false, other);
  const named = market("Will the Fed cut rates in June?", { closeAt: Date.UTC(2027, 2, 17, 18) });
  assert.equal(fits("Fed rate cut in March", named), false);
  const midnight = market("Will the Fed cut rates?", { closeAt: Date.UTC(2027, 3, 1) });
  assert.equal(fits("Fed rate cut by 31 March", midnight), true);
});

test("a relative date is resolved to a date, unless the market has the same words", () => {
  assert.equal(fits("recession next year", "Recession in 2027?"), true);
  assert.equal(fits("recession next year", "Will there be a recession in the next year?"), true);
  assert.equal(fits("Fed cut next month", "Fed cut in December 2026?"), true);
  assert.equal(fits("Fed cut this month", "Fed cut in December 2026?"), false);
});

test("the word `may` is a month after `in`, and not as a verb or in a name", () => {
  assert.equal(fits("may the Fed cut rates in June", "Fed rate cut in June?"), true);
  assert.equal(fits("Fed rate cut in may", "Fed rate cut in June?"), false);
  assert.equal(fits("Will Theresa May win?", "Will Theresa May win?"), true);
});

test("the score is 1 for the same words, and decreases with other words and with further words of the market", () => {
  const title = "Will the Fed cut rates in March?";
  assert.equal(fit("Fed cut rates March", title).score, 1);
  const [more, most] = [fit("Fed March", title).score, fit("March", title).score];
  assert.ok(more < 1 && most < more && most > 0.5);
  assert.ok(fit("Fed cut rates June", title).score < 0.5);
  assert.equal(fit("Fed cut rates March", market(title, { outcomeLabel: "March" })).score, 1);
  const memoir = "Will Keller publish a memoir in March?";
  const [paraphrase, part] = [
    fit("Keller will release memoirs in March", memoir).score,
    fit("Keller March", memoir).score,
  ];
  assert.ok(paraphrase < 0.95 && part < paraphrase);
  const [norvik, sund] = ["Norvik vs Sund: Norvik", "Norvik vs Sund: Sund"] as const;
  assert.ok(fit(norvik, norvik).score - fit(norvik, sund).score > 0.05);
  const question = "Fed decision in March: cut 25bps";
  assert.ok(fit(question, question).score - fit(question, "Fed decision in March: cut >25bps").score > 0.05);
});

test("the exact title has the score 1 when the outcome repeats its numbers", () => {
  const pairs = [
    ["Price of Corvium on Jan 6, 2027? — Above $126,000", "Above $126,000"],
    ["Price of Corvium on Jan 6, 2027? — $2.5", "$2.5"],
    ["CPI in April? — ≥ 2.8%", "≥ 2.8%"],
    ["Highest temperature in Norvik on Jan 6? — 49° to 50°", "49° to 50°"],
    ["Avaria ceasefire? — Before Mar 20, 2027", "Before Mar 20, 2027"],
  ] as const;
  for (const [title, outcomeLabel] of pairs) assert.equal(fit(title, market(title, { outcomeLabel })).score, 1, title);
});

test("a text without content words is not a question", () => {
  for (const text of ["", "?!", "will it happen", "what are the odds"]) assert.equal(parseQuestion(text, NOW), null);
});

test("an adversarial text is parsed in bounded time", () => {
  const started = performance.now();
  for (const text of [
    "may ".repeat(125),
    "1".repeat(500),
    "a-".repeat(250),
    "between ".repeat(60),
    "$1 to ".repeat(80),
  ])
    fit(`Fed ${text}`, text);
  assert.ok(performance.now() - started < 2_000);
});
