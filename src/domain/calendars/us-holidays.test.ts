import assert from "node:assert/strict";
import { test } from "node:test";
import { civilDate, partsOf, weekdayOf } from "../../lib/dates/civil-date.ts";
import { federalHolidays, isFederalHoliday } from "./us-holidays.ts";

const format = (date: number) => {
  const { month, day } = partsOf(date);
  return `${month}-${day}`;
};

test("gives the holidays of 2021, 2024 and 2026 as observed by federal offices", () => {
  assert.equal(federalHolidays(2021).map(format).join(" "), "1-1 1-18 2-15 5-31 6-18 7-5 9-6 10-11 11-11 11-25 12-24");
  assert.equal(federalHolidays(2024).map(format).join(" "), "1-1 1-15 2-19 5-27 6-19 7-4 9-2 10-14 11-11 11-28 12-25");
  assert.equal(federalHolidays(2026).map(format).join(" "), "1-1 1-19 2-16 5-25 6-19 7-3 9-7 10-12 11-11 11-26 12-25");
});

test("New Year's Day of 2022, a Saturday, was observed on 31 December 2021", () => {
  assert.ok(isFederalHoliday(civilDate(2021, 12, 31)));
  assert.ok(!isFederalHoliday(civilDate(2022, 1, 3)));
});

test("Juneteenth has been a holiday since 2021, and no holiday is on a weekend in any year", () => {
  assert.ok(!isFederalHoliday(civilDate(2020, 6, 19)));
  for (let year = 1990; year <= 2200; year++)
    for (const date of federalHolidays(year)) assert.ok(weekdayOf(date) >= 1 && weekdayOf(date) <= 5);
});
