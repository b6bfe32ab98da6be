import type { CivilDate } from "../../lib/dates/civil-date.ts";
import { type TimeZone, zonedInstant } from "../../lib/dates/zoned-time.ts";

/**
 * How certain a date is. published: the publisher announced it. rule: computed by a rule that gives every regular
 * date of the past (the tests compare them). expected: computed by a rule that only approximates past dates.
 */
export type Certainty = "published" | "rule" | "expected";

/** One occurrence of a recurring schedule. Times are Unix milliseconds. */
export interface Occurrence {
  readonly at: number;
  /** End of an occurrence that lasts a day or longer; equal to `at` for an announcement. */
  readonly endAt: number;
  /** For example "CPI release". */
  readonly label: string;
  readonly certainty: Certainty;
}

export interface Calendar {
  /** The value of `recurring_schedule` in the API, for example "FOMC meeting". */
  readonly name: string;
  /**
   * Returns the occurrences of a calendar year in order of time.
   *
   * @throws RangeError when the year is not an integer from 1990 to 2200
   */
  occurrencesOf(year: number): readonly Occurrence[];
}

const CALENDAR_YEAR_MIN = 1990;
const CALENDAR_YEAR_MAX = 2200;
/** Maximum number of years that `listOccurrences` covers. */
const YEARS_MAX = 12;

/** @throws RangeError when the year is not an integer from 1990 to 2200 */
export function assertYear(year: number): void {
  if (!Number.isInteger(year) || year < CALENDAR_YEAR_MIN || year > CALENDAR_YEAR_MAX)
    throw new RangeError(`year must be an integer from ${CALENDAR_YEAR_MIN} to ${CALENDAR_YEAR_MAX}, not ${year}`);
}

/** The time from the start of the first day to the end of the last one in a time zone. */
export const wholeDays = (first: CivilDate, last: CivilDate, zone: TimeZone): Pick<Occurrence, "at" | "endAt"> => ({
  at: zonedInstant(first, 0, zone),
  endAt: zonedInstant(last + 1, 0, zone) - 1,
});

/** Occurrences by calendar and year; at most 211 years of each calendar, because other years are refused. */
const knownYears = new WeakMap<Calendar, Map<number, readonly Occurrence[]>>();

/** Remembers the occurrences of a year: their local times are costly to convert. */
function occurrencesOf(calendar: Calendar, year: number): readonly Occurrence[] {
  const years = knownYears.get(calendar) ?? new Map<number, readonly Occurrence[]>();
  knownYears.set(calendar, years);
  const known = years.get(year) ?? calendar.occurrencesOf(year);
  years.set(year, known);
  return known;
}

/**
 * Lists the occurrences that end at or after `from` and begin at or before `to`, in order of time, at most `limit`,
 * within twelve calendar years. Returns none outside the years 1990 to 2200.
 */
export function listOccurrences(
  calendar: Calendar,
  range: { readonly from: number; readonly to: number; readonly limit: number },
): Occurrence[] {
  const { from, to, limit } = range;
  const occurrences: Occurrence[] = [];
  // An occurrence of the previous year can last into this one, and a time zone can move one across the new year.
  const firstYear = Math.max(CALENDAR_YEAR_MIN, new Date(from).getUTCFullYear() - 1);
  const lastYear = Math.min(CALENDAR_YEAR_MAX, new Date(to).getUTCFullYear() + 1, firstYear + YEARS_MAX);
  for (let year = firstYear; year <= lastYear; year++) {
    for (const occurrence of occurrencesOf(calendar, year)) {
      if (occurrences.length >= limit || occurrence.at > to) return occurrences;
      if (occurrence.endAt >= from) occurrences.push(occurrence);
    }
  }
  return occurrences;
}
