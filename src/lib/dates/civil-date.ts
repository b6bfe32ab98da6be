import { DAY_MS } from "../durations.ts";

/** A day of the Gregorian calendar without a time zone: days since 1970-01-01. */
export type CivilDate = number;

/** 0 is Sunday, as in `Date.prototype.getUTCDay`. */
export type Weekday = 0 | 1 | 2 | 3 | 4 | 5 | 6;

export const SUNDAY = 0;
export const MONDAY = 1;
export const TUESDAY = 2;
export const WEDNESDAY = 3;
export const THURSDAY = 4;
export const FRIDAY = 5;
export const SATURDAY = 6;

/**
 * @param month  1 to 12
 * @throws RangeError when there is no such day
 * @example civilDate(2026, 2, 29); // RangeError
 */
export function civilDate(year: number, month: number, day: number): CivilDate {
  const date = new Date(Date.UTC(year, month - 1, day));
  if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day)
    throw new RangeError(`there is no day ${year}-${month}-${day}`);
  return date.getTime() / DAY_MS;
}

/** Returns year, month (1 to 12) and day of the month. */
export function partsOf(date: CivilDate): { readonly year: number; readonly month: number; readonly day: number } {
  const utc = new Date(date * DAY_MS);
  return { year: utc.getUTCFullYear(), month: utc.getUTCMonth() + 1, day: utc.getUTCDate() };
}

export function weekdayOf(date: CivilDate): Weekday {
  // 1970-01-01 was a Thursday.
  return ((((date + THURSDAY) % 7) + 7) % 7) as Weekday;
}

/** Returns the last day of a month. `month` is 1 to 12. */
export const lastDayOfMonth = (year: number, month: number): CivilDate => Date.UTC(year, month, 0) / DAY_MS;

/** Returns the first `weekday` on or after `date`. */
export const onOrAfter = (date: CivilDate, weekday: Weekday): CivilDate => date + ((weekday - weekdayOf(date) + 7) % 7);

/** Returns the last `weekday` on or before `date`. */
export function onOrBefore(date: CivilDate, weekday: Weekday): CivilDate {
  return date - ((weekdayOf(date) - weekday + 7) % 7);
}

/** Returns the `weekday` nearest to `date`, at most 3 days away. */
export const nearest = (date: CivilDate, weekday: Weekday): CivilDate => onOrBefore(date + 3, weekday);

/** Returns the n-th `weekday` of a month; `n` is 1 to 4. */
export function nthOfMonth(year: number, month: number, weekday: Weekday, n: number): CivilDate {
  return onOrAfter(civilDate(year, month, 1), weekday) + 7 * (n - 1);
}

export function lastOfMonth(year: number, month: number, weekday: Weekday): CivilDate {
  return onOrBefore(lastDayOfMonth(year, month), weekday);
}
