import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type CivilDate, civilDate, partsOf, weekdayOf } from "../../lib/dates/civil-date.ts";
import { type Calendar, listOccurrences } from "./calendar.ts";
import { type PublishedTableName, publishedDates } from "./published-dates.ts";
import {
  CPI,
  expectedCpiDate,
  expectedGdpDate,
  expectedPceDate,
  GDP,
  JOBLESS_CLAIMS,
  JOBS_REPORT,
  joblessClaimsDates,
  jobsReportDate,
  PCE,
} from "./us-data-releases.ts";

/** Parses "1-4 2-1 …", one date per month, in order of the months. */
const parseDates = (year: number, dates: string): readonly CivilDate[] =>
  dates.split(" ").map((date) => {
    const [month = 0, day = 0] = date.split("-").map(Number);
    return civilDate(year, month, day);
  });
const years = fc.integer({ min: 1990, max: 2200 });
const months = fc.integer({ min: 1, max: 12 });

/**
 * BLS release schedules; for 2025 and 2026 those before the government shutdowns, which moved or cancelled releases.
 */
const JOBS_REPORTS: Readonly<Record<number, string>> = {
  2019: "1-4 2-1 3-8 4-5 5-3 6-7 7-5 8-2 9-6 10-4 11-1 12-6",
  2020: "1-10 2-7 3-6 4-3 5-8 6-5 7-2 8-7 9-4 10-2 11-6 12-4",
  2021: "1-8 2-5 3-5 4-2 5-7 6-4 7-2 8-6 9-3 10-8 11-5 12-3",
  2022: "1-7 2-4 3-4 4-1 5-6 6-3 7-8 8-5 9-2 10-7 11-4 12-2",
  2023: "1-6 2-3 3-10 4-7 5-5 6-2 7-7 8-4 9-1 10-6 11-3 12-8",
  2024: "1-5 2-2 3-8 4-5 5-3 6-7 7-5 8-2 9-6 10-4 11-1 12-6",
  2025: "1-10 2-7 3-7 4-4 5-2 6-6 7-3 8-1 9-5 10-3 11-7 12-5",
  2026: "1-9 2-6 3-6 4-3 5-8 6-5 7-2 8-7 9-4 10-2 11-6 12-4",
};

type Compute = (year: number, month: number) => CivilDate;

/**
 * Returns the largest difference in days between a rule and the published dates of whole years, one a month.
 *
 * @param first  month of the first date that is compared, 1 to 12
 */
function largestError(table: PublishedTableName, years: readonly number[], compute: Compute, first = 1) {
  const errors = years.flatMap((year) => {
    const published = (publishedDates(table, year) ?? []).slice(first - 13);
    assert.equal(published.length, 13 - first, `${table} ${year}`);
    return published.map((date, index) => Math.abs(date - compute(year, first + index)));
  });
  return Math.max(...errors);
}
/** Years without a shutdown. */
const REGULAR_YEARS = [2020, 2021, 2022, 2023, 2024];

test("the jobs report rule gives every scheduled date of 2019 to 2026", () => {
  for (const [year, dates] of Object.entries(JOBS_REPORTS)) {
    const computed = Array.from({ length: 12 }, (_, month) => jobsReportDate(Number(year), month + 1));
    assert.deepEqual(computed, parseDates(Number(year), dates), year);
  }
});

test("the CPI rule is within 4 days of every release of 2018 to 2024 and since March 2026", () => {
  assert.equal(largestError("CPI", [2018, 2019, ...REGULAR_YEARS], expectedCpiDate), 4);
  assert.ok(largestError("CPI", [2026], expectedCpiDate, 3) <= 4);
});

test("the PCE rule is within 7 days, and the GDP rule within 6, of every release of 2020 to 2024 and since April 2026", () => {
  assert.equal(largestError("PCE", REGULAR_YEARS, expectedPceDate), 7);
  assert.equal(largestError("GDP", REGULAR_YEARS, expectedGdpDate), 6);
  assert.equal(largestError("PCE", [2026], expectedPceDate, 4), 6);
  assert.equal(largestError("GDP", [2026], expectedGdpDate, 4), 6);
});

test("releases that government shutdowns moved have their actual dates, and cancelled ones are left out", () => {
  const daysOf = (calendar: Calendar, year: number) =>
    calendar.occurrencesOf(year).map(({ at }) => new Date(at).toISOString().slice(0, 10));
  // BLS: the September report on 20 November, none for October, the November report on 16 December.
  assert.deepEqual(daysOf(JOBS_REPORT, 2025).slice(-3), ["2025-09-05", "2025-11-20", "2025-12-16"]);
  assert.deepEqual(daysOf(JOBS_REPORT, 2026).slice(0, 3), ["2026-01-09", "2026-02-11", "2026-03-06"]);
  assert.deepEqual(daysOf(CPI, 2025).slice(-3), ["2025-09-11", "2025-10-24", "2025-12-18"]);
  assert.deepEqual(daysOf(CPI, 2026).slice(0, 3), ["2026-01-13", "2026-02-13", "2026-03-11"]);
  // BEA: the third quarter's first estimate on 23 December, its last on 22 January.
  assert.deepEqual(
    GDP.occurrencesOf(2026).map(({ at, label }) => `${new Date(at).toISOString().slice(5, 10)} ${label}`),
    [
      "01-22 GDP third estimate",
      "02-20 GDP advance estimate",
      "03-13 GDP second estimate",
      "04-09 GDP third estimate",
      "04-30 GDP advance estimate",
      "05-28 GDP second estimate",
      "06-25 GDP third estimate",
      "07-30 GDP advance estimate",
      "08-26 GDP second estimate",
      "09-30 GDP third estimate",
      "10-29 GDP advance estimate",
      "11-25 GDP second estimate",
      "12-23 GDP third estimate",
    ],
  );
  assert.deepEqual(daysOf(PCE, 2026), daysOf(GDP, 2026));
  assert.equal(GDP.occurrencesOf(2027)[0]?.label, "GDP advance estimate");
  const autumn = daysOf(JOBLESS_CLAIMS, 2025).filter((day) => day >= "2025-09-20" && day < "2025-12-01");
  assert.deepEqual(autumn, ["2025-09-25", "2025-11-20", "2025-11-26"]);
});

test("jobless claims are published on Thursdays, or on the Wednesday before a Thursday holiday", () => {
  const isRelease = (year: number, month: number, day: number) =>
    joblessClaimsDates(year).includes(civilDate(year, month, day));
  // Thanksgiving, Veterans Day 2021, Independence Day 2024, Juneteenth 2025, Christmas 2025, New Year's Day 2026.
  const published = [
    [2024, 11, 27],
    [2026, 11, 25],
    [2021, 11, 10],
    [2024, 7, 3],
    [2025, 6, 18],
    [2025, 12, 24],
    [2025, 12, 31],
    [2026, 11, 19],
  ] as const;
  for (const [year, month, day] of published) {
    assert.ok(isRelease(year, month, day), `${year}-${month}-${day}`);
    if (day !== 19) assert.ok(!joblessClaimsDates(year).includes(civilDate(year, month, day) + 1));
  }
  for (let year = 1990; year <= 2200; year++) {
    const dates = joblessClaimsDates(year);
    const published = year === 2025 ? dates.length + 7 : dates.length;
    assert.ok(published >= 51 && published <= 53, String(year));
    assert.ok(dates.every((date) => partsOf(date).year === year));
  }
});

test("releases are at 8:30 in New York, in summer and winter", () => {
  const times = JOBS_REPORT.occurrencesOf(2026).map(({ at }) => new Date(at).toISOString().slice(5, 16));
  assert.deepEqual([times[0], times[6], times[11]], ["01-09T13:30", "07-02T12:30", "12-04T13:30"]);
});

test("the certainty is `published` for dates of a table, `rule` for those of an exact rule, and else `expected`", () => {
  const certaintyOf = (calendar: Calendar, year: number) =>
    [...new Set(calendar.occurrencesOf(year).map(({ certainty }) => certainty))].join();
  assert.equal(certaintyOf(CPI, 2026), "published");
  assert.equal(certaintyOf(CPI, 2030), "expected");
  assert.equal(certaintyOf(PCE, 2026), "published");
  assert.equal(certaintyOf(PCE, 2027), "expected");
  assert.equal(certaintyOf(GDP, 2026), "published");
  assert.equal(certaintyOf(GDP, 2027), "expected");
  assert.equal(certaintyOf(JOBS_REPORT, 2026), "published");
  assert.equal(certaintyOf(JOBS_REPORT, 2030), "rule");
  assert.equal(certaintyOf(JOBLESS_CLAIMS, 2030), "rule");
});

test("in any year each month has one release on a weekday of that month", () => {
  for (const compute of [expectedCpiDate, expectedPceDate, expectedGdpDate]) {
    fc.assert(
      fc.property(years, months, (year, month) => {
        const date = compute(year, month);
        return partsOf(date).month === month && weekdayOf(date) >= 1 && weekdayOf(date) <= 5;
      }),
    );
  }
  fc.assert(
    fc.property(years, months, (year, month) => {
      const date = jobsReportDate(year, month);
      const { month: releaseMonth, day } = partsOf(date);
      return releaseMonth === month && day <= 10 && (weekdayOf(date) === 5 || weekdayOf(date) === 4);
    }),
  );
});

test("years outside 1990 to 2200 are refused", () => {
  for (const calendar of [CPI, PCE, GDP, JOBS_REPORT, JOBLESS_CLAIMS])
    for (const year of [1989, 2201, 2026.5, Number.NaN]) assert.throws(() => calendar.occurrencesOf(year), RangeError);
});

test("lists occurrences over the turn of a year, in order and at most `limit`", () => {
  const from = Date.UTC(2026, 10, 22);
  const range = { from, to: Date.UTC(2027, 1, 20), limit: 10 };
  const days = listOccurrences(JOBS_REPORT, range).map(({ at }) => new Date(at).toISOString().slice(0, 10));
  assert.deepEqual(days, ["2026-12-04", "2027-01-08", "2027-02-05"]);
  assert.equal(listOccurrences(JOBS_REPORT, { ...range, limit: 2 }).length, 2);
  assert.deepEqual(listOccurrences(JOBS_REPORT, { from, to: from - 1, limit: 10 }), []);
  assert.deepEqual(listOccurrences(JOBS_REPORT, { from: 0, to: from, limit: 1 })[0]?.at, Date.UTC(1990, 0, 5, 13, 30));
  const farAway = { from: Date.UTC(2500, 0, 1), to: Date.UTC(2501, 0, 1), limit: 10 };
  assert.deepEqual(listOccurrences(JOBS_REPORT, farAway), []);
});
