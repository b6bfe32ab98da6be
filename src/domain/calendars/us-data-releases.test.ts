import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type CivilDate, civilDate, partsOf, weekdayOf } from "../../lib/civil-date.ts";
import { type Calendar, listOccurrences } from "./calendar.ts";
import { publishedDates } from "./published-dates.ts";
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

/** Published by the BLS. Of 2025 and 2026 the schedule before the government shutdowns of those years. */
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

/** Published by the BEA; 2019 began late because of a shutdown. PCE of 2020-10 and 2021-10 is the release of 1 October. */
const PCE_RELEASES: Readonly<Record<number, string>> = {
  2020: "1-31 2-28 3-27 4-30 5-29 6-26 7-31 8-28 10-1 10-30 11-25 12-23",
  2021: "1-29 2-26 3-26 4-30 5-28 6-25 7-30 8-27 10-1 10-29 11-24 12-23",
  2022: "1-28 2-25 3-31 4-29 5-27 6-30 7-29 8-26 9-30 10-28 12-1 12-23",
  2023: "1-27 2-24 3-31 4-28 5-26 6-30 7-28 8-31 9-29 10-27 11-30 12-22",
  2024: "1-26 2-29 3-29 4-26 5-31 6-28 7-26 8-30 9-27 10-31 11-27 12-20",
};
const GDP_RELEASES: Readonly<Record<number, string>> = {
  2020: "1-30 2-27 3-26 4-29 5-28 6-25 7-30 8-27 9-30 10-29 11-25 12-22",
  2021: "1-28 2-25 3-25 4-29 5-27 6-24 7-29 8-26 9-30 10-28 11-24 12-22",
  2022: "1-27 2-24 3-30 4-28 5-26 6-29 7-28 8-25 9-29 10-27 11-30 12-22",
  2023: "1-26 2-23 3-30 4-27 5-25 6-29 7-27 8-30 9-28 10-26 11-29 12-21",
  2024: "1-25 2-28 3-28 4-25 5-30 6-27 7-25 8-29 9-26 10-30 11-27 12-19",
};

/** Returns the largest difference in days between a rule and published dates. */
function largestError(
  published: Readonly<Record<number, string>>,
  compute: (year: number, month: number) => CivilDate,
) {
  let largest = 0;
  for (const [year, dates] of Object.entries(published))
    parseDates(Number(year), dates).forEach((date, index) => {
      largest = Math.max(largest, Math.abs(date - compute(Number(year), index + 1)));
    });
  return largest;
}

test("the jobs report rule gives every scheduled date of 2019 to 2026", () => {
  for (const [year, dates] of Object.entries(JOBS_REPORTS)) {
    const computed = Array.from({ length: 12 }, (_, month) => jobsReportDate(Number(year), month + 1));
    assert.deepEqual(computed, parseDates(Number(year), dates), year);
  }
});

test("the CPI rule is within 4 days of every release of 2018 to 2024", () => {
  let largest = 0;
  for (let year = 2018; year <= 2024; year++) {
    const published = publishedDates("CPI", year) ?? [];
    assert.equal(published.length, 12);
    published.forEach((date, index) => {
      largest = Math.max(largest, Math.abs(date - expectedCpiDate(year, index + 1)));
    });
  }
  assert.equal(largest, 4);
});

test("the PCE rule is within 7 days, and the GDP rule within 6, of every release of 2020 to 2024", () => {
  assert.deepEqual([largestError(PCE_RELEASES, expectedPceDate), largestError(GDP_RELEASES, expectedGdpDate)], [7, 6]);
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
    assert.ok(dates.length >= 51 && dates.length <= 53, String(year));
    assert.ok(dates.every((date) => partsOf(date).year === year));
  }
});

test("releases are at 8:30 in New York, in summer and winter", () => {
  const times = JOBS_REPORT.occurrencesOf(2026).map(({ at }) => new Date(at).toISOString().slice(5, 16));
  assert.deepEqual([times[0], times[6], times[11]], ["01-09T13:30", "07-02T12:30", "12-04T13:30"]);
});

test("dates of a table are published, those of an exact rule are a rule, all others are only expected", () => {
  const certaintyOf = (calendar: Calendar, year: number) =>
    [...new Set(calendar.occurrencesOf(year).map(({ certainty }) => certainty))].join();
  assert.equal(certaintyOf(CPI, 2026), "published");
  assert.equal(certaintyOf(CPI, 2030), "expected");
  assert.equal(certaintyOf(PCE, 2026), "expected");
  assert.equal(certaintyOf(GDP, 2026), "expected");
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
