import assert from "node:assert/strict";
import { test } from "node:test";
import { civilDate, partsOf, weekdayOf } from "../../lib/dates/civil-date.ts";
import { EMMYS, expectedEmmysDate, expectedGrammysDate, expectedOscarsDate, GRAMMYS, OSCARS } from "./awards.ts";
import type { Calendar } from "./calendar.ts";
import {
  BANK_OF_ENGLAND,
  ECB,
  expectedBankOfEnglandDates,
  expectedEcbDates,
  expectedFomcDates,
  FOMC,
} from "./central-banks.ts";
import {
  CHAMPIONS_LEAGUE_FINAL,
  expectedChampionsLeagueFinalDate,
  NBA_FINALS,
  nbaFinalsWindow,
  STANLEY_CUP_FINAL,
  SUPER_BOWL,
  stanleyCupFinalWindow,
  superBowlDate,
  WORLD_SERIES,
  worldSeriesWindow,
} from "./league-finals.ts";
import { type PublishedTableName, publishedDates } from "./published-dates.ts";
import { federalElectionDate, US_FEDERAL_ELECTION } from "./us-elections.ts";

const parse = (text: string): number => {
  const [year = 0, month = 0, day = 0] = text.split("-").map(Number);
  return civilDate(year, month, day);
};
const isoTimes = (calendar: Calendar, year: number) =>
  calendar.occurrencesOf(year).map(({ at }) => new Date(at).toISOString().slice(0, 16));

/** Returns the largest difference in days between a rule and the published dates of the years. */
function largestError(
  table: PublishedTableName,
  years: readonly number[],
  compute: (year: number) => readonly number[],
) {
  return Math.max(
    ...years.flatMap((year) => {
      const published = publishedDates(table, year) ?? [];
      const computed = compute(year);
      assert.equal(published.length, computed.length, `${table} ${year}`);
      return published.map((date, index) => Math.abs(date - (computed[index] ?? Number.NaN)));
    }),
  );
}
const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

test("the FOMC rule is within 8 days of every meeting of 2018 to 2027 except 2020", () => {
  const years = range(2018, 2027).filter((year) => year !== 2020);
  assert.equal(largestError("FOMC", years, expectedFomcDates), 8);
});

test("the ECB rule is within 14 days of every meeting of 2019 to 2028, the Bank of England rule within 7 of 2019 to 2027", () => {
  assert.equal(largestError("ECB", range(2019, 2028), expectedEcbDates), 14);
  assert.equal(largestError("BANK_OF_ENGLAND", range(2019, 2027), expectedBankOfEnglandDates), 7);
});

test("published meetings are on the usual weekday, in order, and two weeks or more apart", () => {
  for (const [table, years, weekdays] of [
    ["FOMC", range(2018, 2027), [3, 4, 0]],
    ["ECB", range(2019, 2028), [4, 3]],
    ["BANK_OF_ENGLAND", range(2019, 2027), [4]],
    ["CPI", range(2018, 2026), [1, 2, 3, 4, 5]],
  ] as const) {
    for (const year of years) {
      const dates = publishedDates(table, year) ?? [];
      for (const [index, date] of dates.entries()) {
        assert.ok((weekdays as readonly number[]).includes(weekdayOf(date)), `${table} ${year} ${index}`);
        if (index > 0) assert.ok(date - (dates[index - 1] ?? 0) >= 14, `${table} ${year} ${index}`);
      }
    }
  }
});

test("decisions are announced at local time: 14:00 New York, 14:15 Frankfurt (13:45 until June 2022), noon London", () => {
  assert.deepEqual(isoTimes(FOMC, 2026).slice(-2), ["2026-10-28T18:00", "2026-12-09T19:00"]);
  assert.deepEqual(isoTimes(ECB, 2026).slice(-2), ["2026-10-29T13:15", "2026-12-17T13:15"]);
  assert.deepEqual(isoTimes(ECB, 2022).slice(3, 5), ["2022-06-09T11:45", "2022-07-21T12:15"]);
  assert.deepEqual(isoTimes(BANK_OF_ENGLAND, 2026).slice(-2), ["2026-11-05T12:00", "2026-12-17T12:00"]);
});

test("federal elections are on the Tuesday after the first Monday of November of even years", () => {
  const days = ["2018-11-6", "2020-11-3", "2022-11-8", "2024-11-5", "2026-11-3", "2028-11-7"];
  for (const day of days) assert.equal(federalElectionDate(Number(day.slice(0, 4))), parse(day));
  assert.deepEqual(US_FEDERAL_ELECTION.occurrencesOf(2027), []);
  const labels = [2026, 2028].map((year) => US_FEDERAL_ELECTION.occurrencesOf(year)[0]?.label);
  assert.deepEqual(labels, ["US midterm election day", "US presidential election day"]);
  const [day] = US_FEDERAL_ELECTION.occurrencesOf(2028);
  assert.equal(new Date(day?.at ?? 0).toISOString(), "2028-11-07T05:00:00.000Z");
  assert.equal(new Date(day?.endAt ?? 0).toISOString(), "2028-11-08T04:59:59.999Z");
});

test("the Super Bowl rule gives every date of 2018 to 2028", () => {
  // NFL, from 2025. Those before are not confirmed.
  const days = ["2018-2-4", "2019-2-3", "2020-2-2", "2021-2-7", "2022-2-13", "2023-2-12", "2024-2-11", "2025-2-9"];
  for (const day of [...days, "2026-2-8", "2027-2-14", "2028-2-13"])
    assert.equal(superBowlDate(Number(day.slice(0, 4))), parse(day));
  assert.deepEqual(isoTimes(SUPER_BOWL, 2027), ["2027-02-14T23:30"]);
});

test("the windows of the finals contain the finals of past years", () => {
  // Announcements of the NBA (2026), NHL (2022 to 2026) and MLB (2018 to 2024, 2026). The others are not confirmed.
  const finals = {
    nba: ["2022-6-2 2022-6-16", "2023-6-1 2023-6-12", "2024-6-6 2024-6-17", "2025-6-5 2025-6-22"],
    nhl: ["2022-6-15 2022-6-26", "2023-6-3 2023-6-13", "2024-6-8 2024-6-24", "2025-6-4 2025-6-17"],
    mlb: ["2022-10-28 2022-11-5", "2023-10-27 2023-11-1", "2024-10-25 2024-10-30", "2025-10-24 2025-11-1"],
  };
  const windows = { nba: nbaFinalsWindow, nhl: stanleyCupFinalWindow, mlb: worldSeriesWindow };
  for (const league of ["nba", "nhl", "mlb"] as const) {
    for (const series of finals[league]) {
      const [first = 0, last = 0] = series.split(" ").map(parse);
      const window = windows[league](partsOf(first).year);
      assert.ok(window.first <= first && window.last >= last, `${league} ${series}`);
    }
  }
  const worldSeriesStarts = ["2018-10-23", "2019-10-22", "2020-10-20", "2021-10-26"];
  for (const start of worldSeriesStarts)
    assert.ok(Math.abs(worldSeriesWindow(Number(start.slice(0, 4))).first - parse(start)) <= 4, start);
  assert.equal(worldSeriesWindow(2026).first, parse("2026-10-23"));
  assert.ok(stanleyCupFinalWindow(2026).first <= parse("2026-6-2"));
  for (const start of ["2019-5-30", "2026-6-3"])
    assert.ok(Math.abs(nbaFinalsWindow(Number(start.slice(0, 4))).first - parse(start)) <= 7, start);
});

test("the rules of ceremonies and of the Champions League final have the documented accuracy", () => {
  const single = (compute: (year: number) => number) => (year: number) => [compute(year)];
  const withoutPandemic = range(2018, 2027).filter((year) => year !== 2020);
  assert.equal(largestError("CHAMPIONS_LEAGUE", withoutPandemic, single(expectedChampionsLeagueFinalDate)), 7);
  assert.equal(largestError("OSCARS", [2018, ...range(2022, 2028)], single(expectedOscarsDate)), 14);
  assert.equal(largestError("GRAMMYS", range(2023, 2027), single(expectedGrammysDate)), 0);
  const emmys = [2018, 2019, 2020, 2021, 2022, 2025, 2026];
  assert.equal(largestError("EMMYS", emmys, single(expectedEmmysDate)), 7);
});

test("ceremonies are published for known years and expected for others", () => {
  assert.deepEqual(isoTimes(OSCARS, 2027), ["2027-03-14T23:00"]);
  assert.deepEqual(isoTimes(GRAMMYS, 2027), ["2027-02-08T01:00"]);
  assert.equal(OSCARS.occurrencesOf(2027)[0]?.certainty, "published");
  assert.equal(OSCARS.occurrencesOf(2035)[0]?.certainty, "expected");
  assert.deepEqual(EMMYS.occurrencesOf(2023), []);
  assert.equal(EMMYS.occurrencesOf(2024).length, 2);
});

test("every calendar lists its occurrences of each year from 1990 to 2200 in order, and refuses other years", () => {
  const yearly = [
    SUPER_BOWL,
    NBA_FINALS,
    STANLEY_CUP_FINAL,
    WORLD_SERIES,
    CHAMPIONS_LEAGUE_FINAL,
    OSCARS,
    GRAMMYS,
    EMMYS,
  ];
  for (const calendar of [...yearly, FOMC, ECB, BANK_OF_ENGLAND, US_FEDERAL_ELECTION]) {
    for (let year = 1990; year <= 2200; year++) {
      const occurrences = calendar.occurrencesOf(year);
      if (yearly.includes(calendar) && year > 2028) assert.equal(occurrences.length, 1);
      occurrences.forEach(({ at, endAt }, index) => {
        assert.ok(endAt >= at && at > (occurrences[index - 1]?.at ?? -Infinity), `${calendar.name} ${year}`);
      });
    }
    for (const year of [1989, 2201, Number.NaN]) assert.throws(() => calendar.occurrencesOf(year), RangeError);
  }
});
