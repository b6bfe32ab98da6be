import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { DAY_MS } from "../../lib/durations.ts";
import { normaliseText } from "../text/words.ts";
import { comparePeriods, findDates, type Period } from "./periods.ts";

const NEAR = Date.UTC(2026, 5, 15);

const isoDay = (day: number | null): string =>
  day === null ? "open" : new Date(day * DAY_MS).toISOString().slice(0, 10);
const show = ({ from, to, kind }: Period): string => `${isoDay(from)} to ${isoDay(to)} ${kind}`;
const read = (text: string, near: number | null = NEAR): string[] =>
  findDates(normaliseText(text), near).periods.map(show);
const relate = (a: string, b: string) =>
  comparePeriods(findDates(normaliseText(a), NEAR).periods, findDates(normaliseText(b), NEAR).periods);

describe("findDates", () => {
  const forms: readonly (readonly [text: string, period: string])[] = [
    ["Will it rain by June 30?", "open to 2026-06-30 deadline"],
    ["Will it rain by June 30, 2027?", "open to 2027-06-30 deadline"],
    ["Will it rain before July 1st?", "open to 2026-06-30 deadline"],
    ["Will it rain on June 30?", "2026-06-30 to 2026-06-30 deadline"],
    ["Will it rain on 30 June 2026?", "2026-06-30 to 2026-06-30 deadline"],
    ["Will it rain on the 30th of June?", "2026-06-30 to 2026-06-30 deadline"],
    ["Will it rain on 2026-06-30?", "2026-06-30 to 2026-06-30 deadline"],
    ["Will it rain before 2026-07-01?", "open to 2026-06-30 deadline"],
    ["Will it rain May 11-17?", "2026-05-11 to 2026-05-17 deadline"],
    ["Will it rain May 28 to June 3, 2026?", "2026-05-28 to 2026-06-03 deadline"],
    ["Will it rain December 28 - January 3, 2027?", "2026-12-28 to 2027-01-03 deadline"],
    ["Will it rain in May?", "2026-05-01 to 2026-05-31 deadline"],
    ["Will it rain in Sept 2026?", "2026-09-01 to 2026-09-30 deadline"],
    ["Will it rain by the end of September?", "open to 2026-09-30 deadline"],
    ["Will it rain before September?", "open to 2026-08-31 deadline"],
    ["Will it rain in Q2 2026?", "2026-04-01 to 2026-06-30 deadline"],
    ["Will it rain before Q3 2026?", "open to 2026-06-30 deadline"],
    ["Will it rain by the end of Q2?", "open to 2026-06-30 deadline"],
    ["Will it rain before 2027?", "open to 2026-12-31 deadline"],
    ["Will it rain by 2027?", "open to 2026-12-31 deadline"],
    ["Will it rain by the end of 2026?", "open to 2026-12-31 deadline"],
    ["Will it rain by end of year?", "open to 2026-12-31 deadline"],
    ["Will it rain this year?", "2026-01-01 to 2026-12-31 deadline"],
    ["Will it rain in 2026?", "2026-01-01 to 2026-12-31 deadline"],
    ["Who wins the league in the 2025-26 season?", "2026-01-01 to 2026-12-31 edition"],
    ["Who wins the league 2025/26?", "2026-01-01 to 2026-12-31 edition"],
    ["Eurovision 2026 winner", "2026-01-01 to 2026-12-31 edition"],
    ["Best Picture at the 98th Academy Awards", "2026-01-01 to 2026-12-31 edition"],
    ["Will it rain between May 11 and May 17?", "2026-05-11 to 2026-05-17 deadline"],
    ["Will it rain between June and August 2026?", "2026-06-01 to 2026-08-31 deadline"],
    ["Will it rain June-August?", "2026-06-01 to 2026-08-31 deadline"],
    ["Will it rain before 5 PM ET on June 30?", "open to 2026-06-30 deadline"],
    ["Will it rain before noon ET on Tuesday, June 30?", "open to 2026-06-30 deadline"],
    ["Will it rain through 2026?", "open to 2026-12-31 deadline"],
    ["Will it rain by EOY 2026?", "open to 2026-12-31 deadline"],
    ["Will it rain in H1 2026?", "2026-01-01 to 2026-06-30 deadline"],
    ["Will it rain by 6/30/26?", "open to 2026-06-30 deadline"],
    ["Will it rain before 2100?", "open to 2099-12-31 deadline"],
    ["Will it rain before the 2026 midterms?", "open to 2025-12-31 deadline"],
    ["Will it rain by the June 2026 meeting?", "2026-06-01 to 2026-06-30 deadline"],
    ["Will it rain on February 29, 2028?", "2028-02-29 to 2028-02-29 deadline"],
  ];
  for (const [text, period] of forms)
    test(`reads "${text}" as ${period}`, () => assert.deepEqual(read(text), [period]));

  test("removes the dates from the text", () => {
    assert.equal(findDates("will it rain by june 30, 2026 in paris?", null).rest, "will it rain in paris?");
  });

  test("keeps the name of an event that is read as a date, and removes times, weekdays and ceremonies", () => {
    for (const [text, rest] of [
      ["will it rain before the 2026 midterms?", "will it rain before the midterms?"],
      ["will it rain before 5 pm et on friday, may 5, 2026?", "will it rain ?"],
      ["bestpicture at the 98th academyawards", "bestpicture at the academyawards"],
    ] as const)
      assert.equal(findDates(text, null).rest, rest);
  });

  test("a price is not read as a year", () => {
    assert.deepEqual(read("Will Ethereum be above $2,030 on June 30?"), ["2026-06-30 to 2026-06-30 deadline"]);
  });

  test("a range over the end of a year starts in the year before", () => {
    assert.deepEqual(read("December 28 - January 3", Date.UTC(2026, 4, 10)), ["2025-12-28 to 2026-01-03 deadline"]);
    assert.deepEqual(read("June 1 - December 30", Date.UTC(2027, 0, 10)), ["2026-06-01 to 2026-12-30 deadline"]);
    assert.deepEqual(read("February 29 - January 3", Date.UTC(2028, 0, 10)), ["2027-02-28 to 2028-01-03 deadline"]);
  });

  test("puts a date without a year into the year nearest to the close", () => {
    assert.deepEqual(read("by January 5", Date.UTC(2026, 11, 28)), ["open to 2027-01-05 deadline"]);
    assert.deepEqual(read("by December 28", Date.UTC(2027, 0, 5)), ["open to 2026-12-28 deadline"]);
  });

  test("leaves out a date without a year if the close is unknown", () => {
    for (const text of ["by June 30", "in May", "in Q2", "May 11-17", "by end of year"])
      assert.deepEqual(read(text, null), [], text);
    assert.deepEqual(read("by June 30, 2026", null), ["open to 2026-06-30 deadline"]);
  });

  test("leaves out days that do not exist", () => {
    for (const text of ["on February 31", "on 31 April", "on June 0", "on 39 June", "on February 29"])
      assert.deepEqual(read(text), [], text);
    // Only the year remains.
    for (const text of ["on 2026-02-30", "on 2026-13-01", "on February 29, 2026"])
      assert.deepEqual(read(text), ["2026-01-01 to 2026-12-31 edition"], text);
  });

  test("does not read the verb `may` or a score as a date", () => {
    for (const text of ["It may rain", "May be the last season", "Mar-a-Lago visit", "GTA 6", "A 3-2 win"])
      assert.deepEqual(read(text), [], text);
    assert.deepEqual(read("May jobs report"), ["2026-05-01 to 2026-05-31 deadline"]);
  });

  test("a period that starts on a day never ends before it, for any text", () => {
    const word = fc.constantFrom(
      "by",
      "may",
      "dec",
      "feb",
      "31",
      "1",
      "-",
      "to",
      "2026",
      "q4",
      "before",
      "end of",
      "02",
      "29",
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.boolean(), (words, isNear) => {
        for (const { from, to } of findDates(words.join(" "), isNear ? NEAR : null).periods) {
          assert.ok(Number.isInteger(to));
          if (from !== null) assert.ok(from <= to, words.join(" "));
        }
      }),
    );
  });
});

describe("times of findDates", () => {
  const minutesOf = (text: string, near: number | null = NEAR) =>
    findDates(text, near).times.map(({ minutes }) => minutes);

  test("the date of the text decides whether ET is summer time, else the close, else winter", () => {
    assert.deepEqual(minutesOf("at 8 pm et on january 5, 2026"), [25 * 60]);
    assert.deepEqual(minutesOf("at 8 pm et on march 9, 2026", null), [24 * 60]);
    assert.deepEqual(minutesOf("at 8 pm et on march 7, 2026", null), [25 * 60]);
    assert.deepEqual(minutesOf("at 8 pm et"), [24 * 60]);
    assert.deepEqual(minutesOf("at 8 pm et", null), [25 * 60]);
  });

  test("EST and PT mean the local times of New York and Los Angeles, also in summer", () => {
    assert.deepEqual(minutesOf("at 8 pm est on june 30"), [24 * 60]);
    assert.deepEqual(findDates("at 8 pm pt on june 30", NEAR).times, [{ minutes: 27 * 60, hasZone: true }]);
  });
});

describe("comparePeriods", () => {
  const cases: readonly (readonly [a: string, b: string, relation: string])[] = [
    ["by June 30", "before July 1", "same"],
    ["before 2027", "by December 31, 2026", "same"],
    ["before 2027", "in 2026", "same"],
    ["by August 31", "before September 2", "same"],
    ["by June 30", "by July 31", "conflict"],
    ["by June 30", "by June 30, 2027", "conflict"],
    ["May 11-17", "May 11-17", "same"],
    ["Eurovision 2026", "Eurovision 2026", "same"],
    ["Eurovision 2026", "Eurovision 2027", "conflict"],
    ["Eurovision 2026", "by May 30, 2026", "unknown"],
    ["Eurovision 2026", "by December 31, 2026", "same"],
    ["Eurovision 2026", "by May 30, 2027", "conflict"],
    ["in May", "by May 31", "conflict"],
    ["on June 30", "by June 30", "conflict"],
    ["by June 30", "Will it rain?", "unknown"],
    ["at the June 2026 meeting", "on June 17, 2026", "same"],
    ["at the June 2026 meeting", "on July 1, 2026", "conflict"],
    ["in June 2026", "on June 17, 2026", "conflict"],
  ];
  for (const [a, b, relation] of cases)
    test(`"${a}" and "${b}" have the relation ${relation}`, () => {
      assert.equal(relate(a, b).relation, relation);
      assert.equal(relate(b, a).relation, relation);
    });

  test("days and windows that are one day apart are different", () => {
    assert.equal(relate("on May 14", "on May 15").relation, "conflict");
    assert.equal(relate("May 11-17", "May 12-18").relation, "conflict");
    assert.equal(relate("May 11-17", "May 12-17").relation, "conflict");
  });

  test("returns the days between two deadlines, and whether both have no first day", () => {
    assert.deepEqual(relate("by June 30", "by July 31"), {
      relation: "conflict",
      daysApart: -31,
      areOpenStarts: true,
    });
    assert.equal(relate("in June", "by July 31").areOpenStarts, false);
  });
});

describe("dates whose year is unknown", () => {
  const optional = (text: string) => findDates(normaliseText(text), null, { isYearOptional: true }).periods;
  const compare = (a: string, b: string) => comparePeriods(optional(a), optional(b));
  const YEARS = [2024, 2025, 2026, 2027, 2028, 2029, 2030, 2032];

  test("only a date without a year has an unknown year", () => {
    assert.deepEqual(
      ["by June 30", "in May", "May 11-17"].map((text) => optional(text)[0]?.isYearUnknown),
      [true, true, true],
    );
    assert.equal(optional("by June 30, 2026")[0]?.isYearUnknown, undefined);
    assert.equal(findDates("by june 30", NEAR, { isYearOptional: true }).periods[0]?.isYearUnknown, undefined);
  });

  for (const text of ["by June 30", "on March 15", "on January 2", "May 11-17"])
    test(`"${text}" is the same in any year, and conflicts with other days of any year`, () => {
      for (const year of YEARS) {
        assert.equal(compare(text, `${text}, ${year}`).relation, "same", String(year));
        assert.equal(compare(`${text}, ${year}`, text).relation, "same", String(year));
        for (const other of ["by October 1", "on October 1", "October 1-7"])
          assert.equal(compare(text, `${other}, ${year}`).relation, "conflict", `${other}, ${year}`);
      }
      assert.equal(compare(text, text).relation, "same");
    });

  test("the last day of a year and the first day of the next year are one day apart", () => {
    assert.equal(compare("by December 31", "by January 1, 2028").relation, "same");
    assert.equal(compare("by January 1", "by December 31, 2027").relation, "same");
    assert.equal(compare("by December 31", "by January 1").relation, "same");
  });

  test("a day in the month of a meeting is the same as the meeting", () => {
    assert.equal(compare("at the June meeting", "on June 17, 2027").relation, "same");
    assert.equal(compare("at the June 2027 meeting", "on June 17").relation, "same");
    assert.equal(compare("at the June meeting", "on July 1, 2027").relation, "conflict");
  });

  test("the number of days between two dates is unknown, and so is their relation to an edition", () => {
    assert.equal(compare("by June 30", "by October 1, 2027").daysApart, null);
    assert.equal(compare("by December 28", "by January 3").daysApart, null);
    assert.equal(compare("Eurovision 2026", "by June 30").relation, "unknown");
    assert.equal(compare("by June 30", "Eurovision 2026").relation, "unknown");
  });
});

test("a deadline that is left blank is at the end of the market", () => {
  const near = Date.UTC(2027, 2, 9, 17);
  for (const text of ["Will it be released by ___?", "Released before ___?", "Released by ...?"])
    assert.deepEqual(
      findDates(text, near).periods,
      [{ from: null, to: Math.floor(near / DAY_MS), kind: "deadline" }],
      text,
    );
  assert.deepEqual(findDates("Will ___ be released?", near).periods, []);
  assert.deepEqual(findDates("Released by ___?", null).periods, []);
});
