import assert from "node:assert/strict";
import { test } from "node:test";
import { findSchedule, isMacroAsset } from "./schedules.ts";

const nameOf = (title: string, rules = "") => findSchedule(title, rules)?.calendar.name ?? null;

test("finds the recurring schedule of a title", () => {
  const cases: Readonly<Record<string, string>> = {
    "Fed decision in December 2026?": "FOMC meeting",
    "Fed: No change after December 2026 meeting?": "FOMC meeting",
    "Fed Rate Hike by September 2026 Meeting?": "FOMC meeting",
    "How many Fed rate cuts in 2027?": "FOMC meeting",
    "CPI year over year in November?": "Consumer Price Index",
    "US inflation in the December 2026 report?": "Consumer Price Index",
    "Core PCE above 2.7%?": "Personal Income and Outlays",
    "US unemployment rate in November?": "Employment Situation",
    "Nonfarm payrolls Dec 4": "Employment Situation",
    "US GDP growth in Q4 2026?": "Gross Domestic Product",
    "Federal funds target range above 4%?": "FOMC meeting",
    "Initial jobless claims above 230K?": "Weekly jobless claims",
    "ECB rate cut in December?": "ECB monetary policy meeting",
    "Bank of England interest rate decision in February": "Bank of England MPC meeting",
    "Who will win the 2028 US presidential election?": "US federal election",
    "Will the Blue Party win the Georgia Senate race in 2026?": "US federal election",
    "NFL champion in 2027?": "Super Bowl",
    "2027 Stanley Cup champion": "Stanley Cup Final",
    "Will the Harbors win the 2027 World Series?": "World Series",
    "Album of the Year at the 69th Annual GRAMMY Awards?": "Grammy Awards",
    "Outstanding Drama Series at the Emmys?": "Primetime Emmy Awards",
  };
  for (const [title, expected] of Object.entries(cases)) assert.equal(nameOf(title), expected, title);
});

test("finds no schedule for similar words with another meaning, or for another country's statistic", () => {
  const titles = [
    "Kell confirmed as Fed Chair by May 15?",
    "UK inflation rate in November?",
    "Japan GDP growth in Q4 2026?",
    "Canada unemployment rate above 7%?",
    "Will Oscar Piastri win the race?",
    "World Series of Poker winner",
    "Blue Party nominee for the Georgia Senate race?",
    "Latin Grammy for Album of the Year?",
    "Women's Champions League final",
    "Will it snow in Boston?",
    "Will China's GDP overtake the US?",
    "Will a fortune exceed 2% of the United States' GDP?",
  ];
  for (const title of titles) assert.equal(nameOf(title), null, title);
});

test("an event that only limits the period of a question is a bound, not the subject", () => {
  const kindOf = (title: string) => findSchedule(title, "")?.kind;
  assert.equal(kindOf("Who wins the 2026 midterms?"), "event");
  for (const title of ["A strike before the 2026 midterms?", "A new album by the Super Bowl?"])
    assert.equal(kindOf(title), "bound", title);
});

test("if the title has no schedule, the beginning of the rules is searched, but not later text", () => {
  assert.equal(nameOf("25 bps decrease", "The upper bound of the federal funds rate …"), "FOMC meeting");
  assert.equal(nameOf("Recession in 2027?", `${"Two quarters of decline. ".repeat(40)} GDP`), null);
});

test("detects titles about assets that macroeconomic releases move", () => {
  for (const title of ["Bitcoin above $90,000?", "S&P 500 closes up?", "US recession in 2027?"])
    assert.ok(isMacroAsset(title));
  for (const title of ["Gold medal for Arvenia?", "Will it snow?"]) assert.ok(!isMacroAsset(title), title);
});
