import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  civilDate,
  FRIDAY,
  lastDayOfMonth,
  lastOfMonth,
  MONDAY,
  nearest,
  nthOfMonth,
  onOrAfter,
  onOrBefore,
  partsOf,
  SUNDAY,
  THURSDAY,
  type Weekday,
  weekdayOf,
} from "./civil-date.ts";

const day = fc.integer({ min: -30_000, max: 90_000 });
const weekday = fc.integer({ min: 0, max: 6 }).map((value) => value as Weekday);

test("known days: 22 November 2026 is a Sunday, Thanksgiving 2026 is 26 November, Labor Day 2026 is 7 September", () => {
  assert.equal(weekdayOf(civilDate(2026, 11, 22)), SUNDAY);
  assert.equal(nthOfMonth(2026, 11, THURSDAY, 4), civilDate(2026, 11, 26));
  assert.equal(nthOfMonth(2026, 9, MONDAY, 1), civilDate(2026, 9, 7));
  assert.equal(lastOfMonth(2026, 5, MONDAY), civilDate(2026, 5, 25));
  assert.deepEqual(partsOf(lastDayOfMonth(2024, 2)), { year: 2024, month: 2, day: 29 });
});

test("closed form: 1970-01-01 is 0, the day before is -1, and `civilDate` of the parts of a date is that date", () => {
  assert.equal(civilDate(1970, 1, 1), 0);
  assert.equal(civilDate(1969, 12, 31), -1);
  fc.assert(
    fc.property(day, (date) => {
      const { year, month, day: dayOfMonth } = partsOf(date);
      return civilDate(year, month, dayOfMonth) === date;
    }),
  );
});

test("`onOrAfter` and `onOrBefore` find the weekday at most 6 days away, `nearest` at most 3 days away", () => {
  fc.assert(
    fc.property(day, weekday, (date, wanted) => {
      const found = [onOrAfter(date, wanted), onOrBefore(date, wanted), nearest(date, wanted)];
      const [after = 0, before = 0, closest = 0] = found;
      return (
        found.every((candidate) => weekdayOf(candidate) === wanted) &&
        after - date >= 0 &&
        after - date <= 6 &&
        date - before >= 0 &&
        date - before <= 6 &&
        Math.abs(closest - date) <= 3
      );
    }),
  );
  assert.equal(onOrAfter(civilDate(2026, 11, 20), FRIDAY), civilDate(2026, 11, 20));
});

test("days that do not exist are refused", () => {
  for (const [year, month, dayOfMonth] of [
    [2026, 2, 29],
    [2026, 13, 1],
    [2026, 0, 1],
    [2026, 4, 31],
    [2026, 1, 0],
    [2026, 1, Number.NaN],
  ] as const)
    assert.throws(() => civilDate(year, month, dayOfMonth), RangeError);
});
