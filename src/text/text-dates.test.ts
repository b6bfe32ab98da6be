import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { hostileTexts } from "../../test/support/hostile-texts.ts";
import { DAY_MS } from "../lib/durations.ts";
import { defaultZoneOf } from "./clock-times.ts";
import { findTextDates, instantsOf, type TextSpan } from "./text-dates.ts";

/** Maximum number of characters that resolution rules have. */
const TEXT_LENGTH_MAX = 12_000;
const splitSentences = (text: string): readonly TextSpan[] =>
  [...text.matchAll(/.+?(?:\. (?=[A-Z])|$)/gs)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));

const LISTED_AT = Date.UTC(2026, 10, 22);

/** Returns the dates of a text as "relation instant", to the minute. */
const read = (text: string, listedAt = LISTED_AT) =>
  findTextDates(text, splitSentences(text), { listedAt })
    .filter(
      ({ unit, isName, isScheduled, relation }) =>
        unit === "day" || !(isName || isScheduled || ["none", "start"].includes(relation)),
    )
    .map(
      (date) =>
        `${date.isScheduled ? "scheduled" : date.relation} ${new Date(instantsOf(date, defaultZoneOf(text)).at).toISOString().slice(0, 16)}`,
    );

const CASES: Readonly<Record<string, readonly string[]>> = {
  "by December 31, 2026": ["by 2026-12-31T23:59"],
  "by December 31, 2026, 11:59 PM ET": ["by 2027-01-01T04:59"],
  "before 11:59 PM ET on December 31, 2026": ["before 2027-01-01T04:59"],
  "before Jan 1, 2050": ["before 2050-01-01T00:00"],
  "by Dec. 31st, 2026": ["by 2026-12-31T23:59"],
  "on or before 31 December 2026": ["by 2026-12-31T23:59"],
  "no later than 1st of March 2027": ["by 2027-03-01T23:59"],
  "by 2026-12-31": ["by 2026-12-31T23:59"],
  "at 2026-12-31T18:30:00Z": ["on 2026-12-31T18:30"],
  "on June 21, 2026, at 18:30 UTC": ["on 2026-06-21T18:30"],
  "at 12:00 ET on December 3, 2026": ["on 2026-12-03T17:00"],
  "at 4pm PT on December 3, 2026": ["on 2026-12-04T00:00"],
  "scheduled for Aug 7, 2026 at 9:40 PM EDT": ["scheduled 2026-08-08T01:40"],
  "scheduled to take place on August 18, 2026": ["scheduled 2026-08-18T00:00"],
  "between May 10 and June 30, 2027, 11:59 PM ET": ["start 2027-05-10T04:00", "by 2027-07-01T03:59"],
  "between December 5 and January 10, 2027": ["start 2026-12-05T00:00", "by 2027-01-10T23:59"],
  "between 1 February and 31 July 2026": ["start 2026-02-01T00:00", "by 2026-07-31T23:59"],
  "between June and December 2027": ["by 2027-12-31T23:59"],
  "from March 26 to May 31, 2026": ["start 2026-03-26T00:00", "by 2026-05-31T23:59"],
  "in Q1 2027": ["within 2027-03-31T23:59"],
  "during the third quarter of 2026": ["within 2026-09-30T23:59"],
  "in the second half of 2025": ["within 2025-12-31T23:59"],
  "in October 2026": ["within 2026-10-31T23:59"],
  "by the end of 2026": ["by 2026-12-31T23:59"],
  "before the end of March 2027": ["by 2027-03-31T23:59"],
  "by EOY 2026": ["by 2026-12-31T23:59"],
  "at the end of January 2027": ["on 2027-01-31T23:59"],
  "by 2027": ["before 2027-01-01T00:00"],
  "by July 2027": ["before 2027-07-01T00:00"],
  "before 2027": ["before 2027-01-01T00:00"],
  "through 2026": ["by 2026-12-31T23:59"],
  "in 2026?": ["within 2026-12-31T23:59"],
  "by June 30?": ["by 2027-06-30T23:59"],
  "on November 15": ["on 2026-11-15T00:00"],
  "in May": ["within 2027-05-31T23:59"],
  "before July?": ["before 2027-07-01T00:00"],
  "before the earlier of his death or Aug 1, 2099": ["before 2099-08-01T00:00"],
  "as of Friday, December 4, 2026": ["on 2026-12-04T00:00"],
  "by February 29": [],
  "on February 27-29": [],
  "by February 30, 2027": [],
  "by 3/4/2026": [],
  "by 6/30/27": ["by 2027-06-30T23:59"],
  "by 30/6/2027, 5 PM ET": ["by 2027-06-30T21:00"],
  "by 4/4/2027": ["by 2027-04-04T23:59"],
  "by 2/31/2027": [],
  "by 13/13/2027": [],
  "by 31 February 2027": [],
  "before the year 2040": ["before 2040-01-01T00:00"],
  "by EOY": ["by 2026-12-31T23:59"],
  "by EOY2027?": ["by 2027-12-31T23:59"],
  "by the end of this year": ["by 2026-12-31T23:59"],
  "between now and the end of 2027": ["by 2027-12-31T23:59"],
  "for November 2026": ["covered 2026-11-30T23:59"],
  "for 2027": ["covered 2027-12-31T23:59"],
  "for December 3, 2026": ["on 2026-12-03T00:00"],
  "before noon Eastern Time on January 20, 2029": ["before 2029-01-20T17:00"],
  "before 24:00 UTC on December 31, 2026": ["before 2027-01-01T00:00"],
  "on December 3, 2026, 24:30": ["on 2026-12-03T00:00"],
  "on December 3, 2026, 5 PM Central Time": ["on 2026-12-03T23:00"],
  "by December 3, 2026, 5 PM MT": ["by 2026-12-04T00:00"],
  // The offset of these zones is not known, so only the day is used.
  "by December 3, 2026, 5 PM IST": ["by 2026-12-03T23:59"],
  "by December 3, 2026, 5 PM UTC+8": ["by 2026-12-03T23:59"],
  "by December 3, 2026, 5 PM London time": ["by 2026-12-03T23:59"],
  "before 5 PM IST on December 3, 2026": ["before 2026-12-03T00:00"],
  "by July 4, 2026, 8 PM EST": ["by 2026-07-05T00:00"],
  "on March 8, 2026, 1:30 AM ET": ["on 2026-03-08T06:30"],
  "on March 8, 2026, 3:30 AM ET": ["on 2026-03-08T07:30"],
  "by the end of Q2": ["by 2027-06-30T23:59"],
  "by EOY 2027 or so": ["by 2027-12-31T23:59"],
  "by 2027 year-end": ["by 2027-12-31T23:59"],
  "by the end of the year": ["by 2026-12-31T23:59"],
  "during this year": ["within 2026-12-31T23:59"],
  "on May 5-7, 2027.": ["on 2027-05-05T00:00"],
  "by 5:30 May 3, 2027": ["by 2027-05-03T05:30"],
  "by mid-March, 2027": [],
  "before the start of 2028": ["before 2028-01-01T00:00"],
  "at the start of 2027": [],
  "from 2023 to 2027": [],
  "in the 2027 census": [],
  "before the 2028 presidential inauguration": [],
  "in 2027 seats": [],
  "above $2027": [],
  "in the 2026-27 season": [],
  "before 2026 World Cup": [],
  "before the December 2026 meeting": [],
  "after the first quarter of 2027": [],
  "it may 5 or so": [],
  "by December 31, 20266": ["by 2026-12-31T23:59"],
};

for (const [text, expected] of Object.entries(CASES)) {
  test(`reads ${JSON.stringify(text)}`, () => assert.deepEqual(read(`It happens ${text}`), expected));
}

test("a date without a year is the first such date from 31 days before the listing onwards", () => {
  assert.deepEqual(read("on October 23", LISTED_AT), ["on 2026-10-23T00:00"]);
  assert.deepEqual(read("on October 20", LISTED_AT), ["on 2027-10-20T00:00"]);
  assert.deepEqual(read("by February 29", Date.UTC(2027, 11, 1)), ["by 2028-02-29T23:59"]);
});

const days = (text: string, reference: Parameters<typeof findTextDates>[2]) =>
  findTextDates(text, splitSentences(text), reference).map(({ firstDay, lastDay }) =>
    [firstDay, lastDay].map((day) => new Date(day * DAY_MS).toISOString().slice(0, 10)).join(" "),
  );

test("a date without a year is in the year in which its last day is nearest to the close", () => {
  assert.deepEqual(days("by January 5", { closeAt: Date.UTC(2026, 11, 28) }), ["2027-01-05 2027-01-05"]);
  assert.deepEqual(days("by December 28", { closeAt: Date.UTC(2027, 0, 5) }), ["2026-12-28 2026-12-28"]);
  assert.deepEqual(days("by the end of Q4", { closeAt: Date.UTC(2027, 0, 5) }), ["2026-10-01 2026-12-31"]);
  assert.deepEqual(days("by February 29", { closeAt: Date.UTC(2026, 0, 5) }), []);
});

test("a date without a year is left out if listing and close are unknown, unless a later date gives the year", () => {
  assert.deepEqual(days("by June 30, in May, in Q2, by EOY", null), []);
  assert.deepEqual(days("between December 5 and January 10, 2027", null), [
    "2026-12-05 2026-12-05",
    "2027-01-10 2027-01-10",
  ]);
  assert.deepEqual(days("by June 30, at Eurovision 2027", null), ["2027-01-01 2027-12-31"]);
});

test("in lower-case text, `may` and `march` are months only if they cannot be other words", () => {
  const close = { closeAt: Date.UTC(2026, 4, 20) };
  for (const text of ["it may rain", "may be the last season", "may fed cut rates", "a mar-a-lago visit"])
    assert.deepEqual(days(text, close), [], text);
  for (const text of [
    "in may",
    "may jobs report",
    "may fed decision",
    "before may",
    "rates in the may meeting",
    "a cut in late may?",
  ])
    assert.deepEqual(days(text, close), ["2026-05-01 2026-05-31"], text);
  assert.deepEqual(days("It will march on", close), []);
  assert.deepEqual(days("will it rain in march?", close), ["2026-03-01 2026-03-31"]);
});

test("a year in a name is not a date", () => {
  const isName = (text: string) => findTextDates(text, splitSentences(text), null).map((date) => date.isName);
  for (const text of ["before the 2026 midterms", "in 2026 World Cup", "the 2025-26 season", "the June 2026 meeting"])
    assert.deepEqual(isName(text), [true], text);
  for (const text of ["before 2026", "by the end of 2026", "in June 2026"])
    assert.deepEqual(isName(text), [false], text);
});

test("the lead of a date begins at the preposition and includes a time and a weekday before the date", () => {
  for (const [text, lead] of [
    ["It rains before 11:59 PM ET on Friday, May 5, 2026", "before 11:59 PM ET on Friday, "],
    ["It rains by the end of June 2026", "by the end of "],
    ["It rains: June 2026", ""],
  ] as const) {
    const [date] = findTextDates(text, splitSentences(text), null);
    assert.equal(text.slice(date?.leadStart, date?.start), lead);
  }
});

test("a preposition at the beginning of a sentence is parsed", () => {
  assert.deepEqual(read("Before 2028, will it happen?"), ["before 2028-01-01T00:00"]);
  assert.deepEqual(read("In 2028, will it happen?"), ["within 2028-12-31T23:59"]);
  assert.deepEqual(read("By July, will it happen?"), ["before 2027-07-01T00:00"]);
});

test("a range ends within its sentence", () => {
  assert.deepEqual(read("It starts from May 1, 2027. And June 2, 2027 is a Wednesday."), [
    "start 2027-05-01T00:00",
    "none 2027-06-02T00:00",
  ]);
});

test("only the first 40 dates of a text are parsed", () => {
  const text = "by December 31, 2026 or 2027-01-31 or 1 March 2027. ".repeat(20);
  assert.equal(read(text).length, 40);
});

test("any text gives at most 40 dates, in order, with finite instants", () => {
  const words = fc.constantFrom(
    "by",
    "before",
    "May",
    "December",
    "31,",
    "2026",
    "11:59 PM",
    "ET",
    "end of",
    "Q3",
    "-",
    ".",
    "and",
    "1st",
    "2026-12-31",
  );
  const texts = fc.oneof(
    fc.string({ maxLength: 300 }),
    fc.array(words, { maxLength: 200 }).map((parts) => parts.join(" ")),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const dates = findTextDates(text, splitSentences(text), { listedAt: LISTED_AT });
      return (
        dates.length <= 40 &&
        dates.every((date, index) => {
          const { at, endAt } = instantsOf(date, "UTC");
          return Number.isFinite(at) && endAt >= at && date.start >= (dates[index - 1]?.end ?? 0);
        })
      );
    }),
  );
});

// A pattern that backtracks without bound runs into the timeout of the tests.
test("texts that are designed to slow down a parser are parsed quickly", () => {
  const fill = (part: string) => part.repeat(TEXT_LENGTH_MAX / part.length);
  const texts = [
    "May ",
    "1 ",
    "by ",
    "2026-",
    "11:59 ",
    "December 31, ",
    "1 of ",
    " ",
    "Q1 of ",
    "the end of ",
    "9.",
    '."',
  ].map(fill);
  for (const text of [...texts, ...hostileTexts]) assert.ok(read(text).length <= 40);
});
