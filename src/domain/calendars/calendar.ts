import type { CivilDate } from "../../lib/dates/civil-date.ts";
import { type TimeZone, zonedInstant } from "../../lib/dates/zoned-time.ts";

/**
 * Certainty of a date. published: announced by the publisher. rule: computed by a rule that reproduces every regular
 * past date (tests compare them). expected: computed by a rule that only approximates past dates.
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

/** Start of the first day and end of the last day in a time zone. */
export const wholeDays = (first: CivilDate, last: CivilDate, zone: TimeZone): Pick<Occurrence, "at" | "endAt"> => ({
  at: zonedInstant(first, 0, zone),
  endAt: zonedInstant(last + 1, 0, zone) - 1,
});

/** Cached occurrences by calendar and year. At most 211 years per calendar (`assertYear`). */
const knownYears = new WeakMap<Calendar, Map<number, readonly Occurrence[]>>();

/** Caches the occurrences of a year, because converting local times is slow. */
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
  // An occurrence of the previous year can last into this year, and in UTC an occurrence can be in another year than in
  // its time zone.
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
