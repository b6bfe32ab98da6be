import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DAY_MS } from "../../../lib/durations.ts";
import { findRelativeDeadline, hasRelativeDeadline } from "./relative-dates.ts";

const WRITTEN_AT = Date.parse("2026-08-31T15:30:00Z");
const read = (title: string) => {
  const deadline = findRelativeDeadline(title, WRITTEN_AT);
  return deadline === null ? null : new Date(deadline.at).toISOString().slice(0, 16);
};

test("reads days, weeks, months and years after the time of writing", () => {
  const cases: Readonly<Record<string, string>> = {
    "in the next 60 days": "2026-10-30T15:30",
    "within the next two weeks": "2026-09-14T15:30",
    "in the next month": "2026-09-30T15:30",
    "In the next six months, will it rain": "2027-02-28T15:30",
    "over the next 24 months": "2028-08-31T15:30",
    "during the next year": "2027-08-31T15:30",
  };
  for (const [text, expected] of Object.entries(cases)) assert.equal(read(`${text}?`), expected, text);
});

test("text without a preposition or without a bounded number of periods is not a relative date", () => {
  for (const text of ["in the next election", "the next 2 weeks", "in the next few months", "in the next 1000 days"]) {
    assert.equal(read(text), null, text);
    assert.ok(!hasRelativeDeadline(text), text);
  }
});

test("a relative date that is one month longer is 28 to 31 days later", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 998 }),
      fc.date({ min: new Date(0), noInvalidDate: true }),
      (months, date) => {
        const writtenAt = Math.min(date.getTime(), Date.UTC(2100, 0, 1));
        const at = (count: number) => findRelativeDeadline(`in the next ${count} months`, writtenAt)?.at ?? Number.NaN;
        const days = (at(months + 1) - at(months)) / DAY_MS;
        return days >= 28 && days <= 31;
      },
    ),
  );
});
