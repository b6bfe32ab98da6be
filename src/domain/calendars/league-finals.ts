import {
  type CivilDate,
  civilDate,
  FRIDAY,
  nearest,
  nthOfMonth,
  SATURDAY,
  SUNDAY,
  THURSDAY,
} from "../../lib/dates/civil-date.ts";
import { zonedInstant } from "../../lib/dates/zoned-time.ts";
import { createCalendar, wholeDays } from "./calendar.ts";
import { publishedDates } from "./published-dates.ts";

/** The second Sunday of February since 2022; the first from 2004 to 2021. The rule gives every date of 2005 to 2028. */
export function superBowlDate(year: number): CivilDate {
  return nthOfMonth(year, 2, SUNDAY, year >= 2022 ? 2 : 1);
}

/** First and last possible day of a series of up to seven games. */
interface SeriesWindow {
  readonly first: CivilDate;
  readonly last: CivilDate;
}

/**
 * 18 days from the first Thursday of June. Contains the whole series of 2022 to 2025. The series of 2019 and 2026 began
 * within a week of the window's start.
 */
export function nbaFinalsWindow(year: number): SeriesWindow {
  const first = nthOfMonth(year, 6, THURSDAY, 1);
  return { first, last: first + 17 };
}

/** 1 to 27 June. Contains the whole series of 2022 to 2025. */
export function stanleyCupFinalWindow(year: number): SeriesWindow {
  return { first: civilDate(year, 6, 1), last: civilDate(year, 6, 27) };
}

/**
 * Nine days from the fourth Friday of October, which is the first day of the series of 2022 to 2026. The series of 2018
 * to 2021 began within 4 days of it.
 */
export function worldSeriesWindow(year: number): SeriesWindow {
  const first = nthOfMonth(year, 10, FRIDAY, 4);
  return { first, last: first + 8 };
}

/** The Saturday nearest to 31 May. Within 7 days of the actual date in 2018 to 2027, except 2020. */
export function expectedChampionsLeagueFinalDate(year: number): CivilDate {
  return nearest(civilDate(year, 5, 31), SATURDAY);
}

/** An occurrence lasts from the first to the end of the last possible day, in New York. */
const createSeriesCalendar = (name: string, label: string, window: (year: number) => SeriesWindow) =>
  createCalendar(name, (year) => {
    const { first, last } = window(year);
    return [{ ...wholeDays(first, last, "America/New_York"), label, certainty: "expected" }];
  });

export const SUPER_BOWL = createCalendar("Super Bowl", (year) => {
  const at = zonedInstant(superBowlDate(year), 18 * 60 + 30, "America/New_York");
  // Before 2005 the rule does not hold.
  return [{ at, endAt: at, label: "Super Bowl kickoff", certainty: year >= 2005 ? "rule" : "expected" }];
});

export const NBA_FINALS = createSeriesCalendar("NBA Finals", "NBA Finals begin", nbaFinalsWindow);
export const STANLEY_CUP_FINAL = createSeriesCalendar(
  "Stanley Cup Final",
  "Stanley Cup Final begins",
  stanleyCupFinalWindow,
);
export const WORLD_SERIES = createSeriesCalendar("World Series", "World Series begins", worldSeriesWindow);

export const CHAMPIONS_LEAGUE_FINAL = createCalendar("UEFA Champions League final", (year) => {
  const published = publishedDates("CHAMPIONS_LEAGUE", year);
  const date = published?.[0] ?? expectedChampionsLeagueFinalDate(year);
  const certainty = published === null ? "expected" : "published";
  // The kickoff time varies by year, so the occurrence is the whole day.
  return [{ ...wholeDays(date, date, "Europe/Berlin"), label: "Champions League final", certainty }];
});
