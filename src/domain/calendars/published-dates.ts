import { type CivilDate, civilDate } from "../../lib/dates/civil-date.ts";

/** Announced or actual dates by year, each written as "month-day". A year is either complete or absent. */
type PublishedYears = Readonly<Record<number, string>>;

/** One date per year, for consecutive years from `firstYear`. */
const onceAYear = (firstYear: number, dates: string): PublishedYears =>
  Object.fromEntries(dates.split(" ").map((date, index) => [firstYear + index, date]));

/**
 * Second day of each FOMC meeting. The meeting of 17 and 18 March 2020 was held on 15 March; the unscheduled one of 3
 * March 2020 is not listed. Source: Federal Reserve, meeting calendars.
 */
const FOMC: PublishedYears = {
  2018: "1-31 3-21 5-2 6-13 8-1 9-26 11-8 12-19",
  2019: "1-30 3-20 5-1 6-19 7-31 9-18 10-30 12-11",
  2020: "1-29 3-15 4-29 6-10 7-29 9-16 11-5 12-16",
  2021: "1-27 3-17 4-28 6-16 7-28 9-22 11-3 12-15",
  2022: "1-26 3-16 5-4 6-15 7-27 9-21 11-2 12-14",
  2023: "2-1 3-22 5-3 6-14 7-26 9-20 11-1 12-13",
  2024: "1-31 3-20 5-1 6-12 7-31 9-18 11-7 12-18",
  2025: "1-29 3-19 5-7 6-18 7-30 9-17 10-29 12-10",
  2026: "1-28 3-18 4-29 6-17 7-29 9-16 10-28 12-9",
  2027: "1-27 3-17 4-28 6-9 7-28 9-15 10-27 12-8",
};

/** Governing Council decisions on monetary policy. Source: European Central Bank, meeting calendar. */
const ECB: PublishedYears = {
  2019: "1-24 3-7 4-10 6-6 7-25 9-12 10-24 12-12",
  2020: "1-23 3-12 4-30 6-4 7-16 9-10 10-29 12-10",
  2021: "1-21 3-11 4-22 6-10 7-22 9-9 10-28 12-16",
  2022: "2-3 3-10 4-14 6-9 7-21 9-8 10-27 12-15",
  2023: "2-2 3-16 5-4 6-15 7-27 9-14 10-26 12-14",
  2024: "1-25 3-7 4-11 6-6 7-18 9-12 10-17 12-12",
  2025: "1-30 3-6 4-17 6-5 7-24 9-11 10-30 12-18",
  2026: "2-5 3-19 4-30 6-11 7-23 9-10 10-29 12-17",
  2027: "2-4 3-18 4-29 6-10 7-22 9-9 10-28 12-16",
  2028: "2-3 3-23 5-4 6-8 7-20 9-7 10-12 12-7",
};

/** Scheduled announcements of the Monetary Policy Committee. Source: Bank of England, MPC dates. */
const BANK_OF_ENGLAND: PublishedYears = {
  2019: "2-7 3-21 5-2 6-20 8-1 9-19 11-7 12-19",
  2020: "1-30 3-26 5-7 6-18 8-6 9-17 11-5 12-17",
  2021: "2-4 3-18 5-6 6-24 8-5 9-23 11-4 12-16",
  2022: "2-3 3-17 5-5 6-16 8-4 9-22 11-3 12-15",
  2023: "2-2 3-23 5-11 6-22 8-3 9-21 11-2 12-14",
  2024: "2-1 3-21 5-9 6-20 8-1 9-19 11-7 12-19",
  2025: "2-6 3-20 5-8 6-19 8-7 9-18 11-6 12-18",
  2026: "2-5 3-19 4-30 6-18 7-30 9-17 11-5 12-17",
  2027: "2-4 3-18 4-29 6-17 7-29 9-16 11-4 12-16",
};

/**
 * Consumer Price Index. Government shutdowns moved the releases of October and December 2025 and of February 2026, and
 * cancelled the release of November 2025. Source: BLS release schedule.
 */
const CPI: PublishedYears = {
  2018: "1-12 2-14 3-13 4-11 5-10 6-12 7-12 8-10 9-13 10-11 11-14 12-12",
  2019: "1-11 2-13 3-12 4-10 5-10 6-12 7-11 8-13 9-12 10-10 11-13 12-11",
  2020: "1-14 2-13 3-11 4-10 5-12 6-10 7-14 8-12 9-11 10-13 11-12 12-10",
  2021: "1-13 2-10 3-10 4-13 5-12 6-10 7-13 8-11 9-14 10-13 11-10 12-10",
  2022: "1-12 2-10 3-10 4-12 5-11 6-10 7-13 8-10 9-13 10-13 11-10 12-13",
  2023: "1-12 2-14 3-14 4-12 5-10 6-13 7-12 8-10 9-13 10-12 11-14 12-12",
  2024: "1-11 2-13 3-12 4-10 5-15 6-12 7-11 8-14 9-11 10-10 11-13 12-11",
  2025: "1-15 2-12 3-12 4-10 5-13 6-11 7-15 8-12 9-11 10-24 12-18",
  2026: "1-13 2-13 3-11 4-10 5-12 6-10 7-14 8-12 9-11 10-14 11-10 12-10",
};

/**
 * Employment Situation, in the years in which government shutdowns moved or cancelled releases. `jobsReportDate` gives
 * the dates of all other years. Source: BLS release schedule.
 */
const JOBS_REPORT: PublishedYears = {
  2025: "1-10 2-7 3-7 4-4 5-2 6-6 7-3 8-1 9-5 11-20 12-16",
  2026: "1-9 2-11 3-6 4-3 5-8 6-5 7-2 8-7 9-4 10-2 11-6 12-4",
};

/**
 * Personal Income and Outlays (PCE). The shutdown of 2025 delayed the releases until April 2026. Source: BEA release
 * schedule.
 */
const PCE: PublishedYears = {
  2020: "1-31 2-28 3-27 4-30 5-29 6-26 7-31 8-28 10-1 10-30 11-25 12-23",
  2021: "1-29 2-26 3-26 4-30 5-28 6-25 7-30 8-27 10-1 10-29 11-24 12-23",
  2022: "1-28 2-25 3-31 4-29 5-27 6-30 7-29 8-26 9-30 10-28 12-1 12-23",
  2023: "1-27 2-24 3-31 4-28 5-26 6-30 7-28 8-31 9-29 10-27 11-30 12-22",
  2024: "1-26 2-29 3-29 4-26 5-31 6-28 7-26 8-30 9-27 10-31 11-27 12-20",
  2025: "1-31 2-28 3-28 4-30 5-30 6-27 7-31 8-29 9-26 12-5",
  2026: "1-22 2-20 3-13 4-9 4-30 5-28 6-25 7-30 8-26 9-30 10-29 11-25 12-23",
};

/**
 * Gross Domestic Product. A quarter's third estimate normally appears in the last month of the next quarter. Source:
 * BEA release schedule.
 */
const GDP: PublishedYears = {
  2020: "1-30 2-27 3-26 4-29 5-28 6-25 7-30 8-27 9-30 10-29 11-25 12-22",
  2021: "1-28 2-25 3-25 4-29 5-27 6-24 7-29 8-26 9-30 10-28 11-24 12-22",
  2022: "1-27 2-24 3-30 4-28 5-26 6-29 7-28 8-25 9-29 10-27 11-30 12-22",
  2023: "1-26 2-23 3-30 4-27 5-25 6-29 7-27 8-30 9-28 10-26 11-29 12-21",
  2024: "1-25 2-28 3-28 4-25 5-30 6-27 7-25 8-29 9-26 10-30 11-27 12-19",
  2025: "1-30 2-27 3-27 4-30 5-29 6-26 7-30 8-28 9-25 12-23",
  2026: "1-22 2-20 3-13 4-9 4-30 5-28 6-25 7-30 8-26 9-30 10-29 11-25 12-23",
};

/**
 * Ceremonies. Sources: Academy of Motion Picture Arts and Sciences; Recording Academy; Television Academy. The dates
 * before 2024 and the Grammys of 2027 are unverified.
 */
const OSCARS = onceAYear(2018, "3-4 2-24 2-9 4-25 3-27 3-12 3-10 3-2 3-15 3-14 3-5");
const GRAMMYS = onceAYear(2018, "1-28 2-10 1-26 3-14 4-3 2-5 2-4 2-2 2-1 2-7");
/** The ceremony of 2023 was held in January 2024. */
const EMMYS: PublishedYears = {
  2018: "9-17",
  2019: "9-22",
  2020: "9-20",
  2021: "9-19",
  2022: "9-12",
  2023: "",
  2024: "1-15 9-15",
  2025: "9-14",
  2026: "9-14",
};
/** Finals of the men's competition. Source: UEFA. The dates before 2025 are unverified. */
const CHAMPIONS_LEAGUE = onceAYear(2018, "5-26 6-1 8-23 5-29 5-28 6-10 6-1 5-31 5-30 6-5");

const TABLES = {
  FOMC,
  ECB,
  BANK_OF_ENGLAND,
  CPI,
  JOBS_REPORT,
  PCE,
  GDP,
  OSCARS,
  GRAMMYS,
  EMMYS,
  CHAMPIONS_LEAGUE,
};
export type PublishedTableName = keyof typeof TABLES;

/** Returns the published dates of a year in order, or null if the table does not have the year. */
export function publishedDates(table: PublishedTableName, year: number): readonly CivilDate[] | null {
  const dates = TABLES[table][year];
  return dates === undefined ? null : parseDates(year, dates);
}

/** Parses space-separated dates of a year in the form "month-day". */
export function parseDates(year: number, dates: string): readonly CivilDate[] {
  return dates
    .split(" ")
    .filter((date) => date !== "")
    .map((date) => {
      const [month = 0, day = 0] = date.split("-").map(Number);
      return civilDate(year, month, day);
    });
}
