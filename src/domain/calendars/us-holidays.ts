import {
  type CivilDate,
  civilDate,
  lastOfMonth,
  MONDAY,
  nthOfMonth,
  partsOf,
  SATURDAY,
  SUNDAY,
  THURSDAY,
  weekdayOf,
} from "../../lib/dates/civil-date.ts";

/** Returns the day on which a holiday is observed: Friday for a Saturday, Monday for a Sunday (5 U.S.C. 6103). */
function observed(date: CivilDate): CivilDate {
  if (weekdayOf(date) === SATURDAY) return date - 1;
  return weekdayOf(date) === SUNDAY ? date + 1 : date;
}

/** Returns the days on which US federal offices are closed for the legal holidays of a year, as observed. */
export function federalHolidays(year: number): readonly CivilDate[] {
  const fixed = (month: number, day: number) => observed(civilDate(year, month, day));
  return [
    fixed(1, 1),
    nthOfMonth(year, 1, MONDAY, 3),
    nthOfMonth(year, 2, MONDAY, 3),
    lastOfMonth(year, 5, MONDAY),
    // Juneteenth became a holiday in 2021.
    ...(year >= 2021 ? [fixed(6, 19)] : []),
    fixed(7, 4),
    nthOfMonth(year, 9, MONDAY, 1),
    nthOfMonth(year, 10, MONDAY, 2),
    fixed(11, 11),
    nthOfMonth(year, 11, THURSDAY, 4),
    fixed(12, 25),
  ];
}

export function isFederalHoliday(date: CivilDate): boolean {
  const { year } = partsOf(date);
  // New Year's Day on a Saturday is observed on 31 December.
  return federalHolidays(year).includes(date) || observed(civilDate(year + 1, 1, 1)) === date;
}
