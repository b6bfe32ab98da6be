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

/** Creates a calendar. Caches the occurrences of each year (at most 211), because converting local times is slow. */
export function createCalendar(name: string, computeYear: (year: number) => readonly Occurrence[]): Calendar {
  const known = new Map<number, readonly Occurrence[]>();
  return {
    name,
    occurrencesOf(year) {
      if (!Number.isInteger(year) || year < CALENDAR_YEAR_MIN || year > CALENDAR_YEAR_MAX)
        throw new RangeError(`year must be an integer from ${CALENDAR_YEAR_MIN} to ${CALENDAR_YEAR_MAX}, not ${year}`);
      const occurrences = known.get(year) ?? computeYear(year);
      known.set(year, occurrences);
      return occurrences;
    },
  };
}

/** Start of the first day and end of the last day in a time zone. */
export const wholeDays = (first: CivilDate, last: CivilDate, zone: TimeZone): Pick<Occurrence, "at" | "endAt"> => ({
  at: zonedInstant(first, 0, zone),
  endAt: zonedInstant(last + 1, 0, zone) - 1,
});

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
    for (const occurrence of calendar.occurrencesOf(year)) {
      if (occurrences.length >= limit || occurrence.at > to) return occurrences;
      if (occurrence.endAt >= from) occurrences.push(occurrence);
    }
  }
  return occurrences;
}
