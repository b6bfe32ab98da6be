import type { CivilDate } from "../../lib/dates/civil-date.ts";
import { type TimeZone, zonedInstant } from "../../lib/dates/zoned-time.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../lib/durations.ts";
import type { PlacedClockTime } from "../../text/clock-times.ts";
import { comparePeriods, type DatedText, latestPeriod, type Period, type PeriodComparison } from "./periods.ts";
import type { ScopeComparison } from "./scopes.ts";

/** The time or the range of times that a question states, in Unix milliseconds. */
export interface TimeWindow {
  /** Null if the text names only one time. */
  readonly from: number | null;
  readonly to: number;
}

/** "by 11:59 PM" and "before 12:00 AM" of the next day are one deadline. */
const TOLERANCE_MS = MINUTE_MS;
/** Maximum distance of a time without a day from the end of its market. */
const END_DISTANCE_MS_MAX = 2 * HOUR_MS;
const RECURRING_MS_MAX = 4 * HOUR_MS;
/** Recurring questions about a price ("Bitcoin up or down, hourly") in normalised text: "up or down" is "up". */
const RECURRING_PATTERN = /\bup\b(?! to\b)/;
const DURATION_PATTERN = /\b(?:(hourly)|(\d{1,2}) ?-? ?(?:(m|mins?|minutes?)|h|hrs?|hours?))\b/;

/**
 * Finds the time or range of times that a text states with a zone. A recurring question without a time ("Up or Down -
 * Hourly") is about the period before its end.
 *
 * @param near  when the market closes, Unix milliseconds
 */
export function findWindow(
  { untimed, clock, periods }: Pick<DatedText, "untimed" | "clock" | "periods">,
  near: number | null,
): TimeWindow | null {
  const isRecurring = RECURRING_PATTERN.test(untimed);
  const [first, last] = clock;
  if (first === undefined) return isRecurring && near !== null ? recurringWindow(untimed, near) : null;
  if (clock.length > 2 || first.zone === null || (last !== undefined && (!last.isRangeEnd || last.zone === null)))
    return null;
  const day = dayOf(periods, first, near);
  if (day === null) return null;
  const at = zonedInstant(day, first.minutes, first.zone);
  if (last?.zone != null) {
    const to = zonedInstant(day, last.minutes, last.zone);
    return { from: at, to: to > at ? to : zonedInstant(day + 1, last.minutes, last.zone) };
  }
  // "Up or Down - May 10, 3 PM ET" names the start of an hour.
  const isStart = isRecurring && near !== null && near > at && near - at <= RECURRING_MS_MAX;
  return isStart ? { from: at, to: near } : { from: null, to: at };
}

function recurringWindow(untimed: string, near: number): TimeWindow | null {
  const match = DURATION_PATTERN.exec(untimed);
  if (match === null) return null;
  const [, hourly, count, minutes] = match;
  const duration = hourly !== undefined ? HOUR_MS : Number(count) * (minutes === undefined ? HOUR_MS : MINUTE_MS);
  return duration === 0 || duration > RECURRING_MS_MAX ? null : { from: near - duration, to: near };
}

/** Returns the local day of a time: the day that the text names, else the day on which the time is next to `near`. */
function dayOf(periods: readonly Period[], time: PlacedClockTime, near: number | null): CivilDate | null {
  const period = latestPeriod(periods, "deadline");
  if (period !== null) {
    const isDay = period.from === null || period.from === period.to;
    return isDay && period.isYearUnknown !== true ? period.to : null;
  }
  if (near === null) return null;
  const nearDay = Math.floor(near / DAY_MS);
  const instantOn = (day: CivilDate) => zonedInstant(day, time.minutes, time.zone as TimeZone);
  const isNear = (day: CivilDate) => Math.abs(instantOn(day) - near) <= END_DISTANCE_MS_MAX;
  return [nearDay - 1, nearDay, nearDay + 1].find(isNear) ?? null;
}

export interface DateComparison extends PeriodComparison {
  /** Whether both questions state times as instants, and `relation` compares them. */
  readonly areTimesCompared: boolean;
}

/** The dates and times of a question. */
interface Timed {
  readonly periods: readonly Period[];
  readonly window: TimeWindow | null;
  /** When the market is expected to end, Unix milliseconds. */
  readonly endAt: number | null;
}

/**
 * Compares the dates of two questions. If both state a time with a zone, compares the instants instead of the days,
 * because 11 PM in New York is on the next day in UTC.
 *
 * "By December 12" has the same deadline as "before December 12, 1:21 AM UTC" if its market closes at 1:21 AM UTC on that
 * day.
 */
export function compareDates(a: Timed, b: Timed): DateComparison {
  const periods = comparePeriods(a.periods, b.periods);
  if (endsAtDeadlineOf(a, b) || endsAtDeadlineOf(b, a))
    return { ...periods, relation: "same", daysApart: 0, areTimesCompared: true };
  const relation = a.window === null || b.window === null ? "unknown" : compareWindows(a.window, b.window);
  if (a.window === null || b.window === null || relation === "unknown") return { ...periods, areTimesCompared: false };
  const daysApart = (a.window.to - b.window.to) / DAY_MS;
  return { relation, daysApart, areOpenStarts: periods.areOpenStarts, areTimesCompared: true };
}

/** Whether a question states a deadline without a time, and its market closes at the deadline of the other question. */
function endsAtDeadlineOf(question: Timed, { window }: Timed): boolean {
  if (question.window !== null || question.endAt === null || window === null || window.from !== null) return false;
  return latestPeriod(question.periods, "deadline")?.from === null && isSameTime(question.endAt, window.to);
}

const isSameTime = (a: number, b: number): boolean => Math.abs(a - b) <= TOLERANCE_MS;

/** A single time can be the start or the end of a range. */
function compareWindows(a: TimeWindow, b: TimeWindow): PeriodComparison["relation"] {
  if (a.from !== null && b.from !== null)
    return isSameTime(a.from, b.from) && isSameTime(a.to, b.to) ? "same" : "conflict";
  if (a.from === null && b.from === null) return isSameTime(a.to, b.to) ? "same" : "conflict";
  const [range, single] = a.from === null ? [b, a] : [a, b];
  return isSameTime(range.to, single.to) || isSameTime(range.from ?? range.to, single.to) ? "unknown" : "conflict";
}

/**
 * If the times were compared as instants, that result replaces the comparison of the times of day. Different instants
 * are a conflict of the dates, so they are not also a conflict of the times.
 */
export function withComparedTimes(
  scopes: ScopeComparison,
  { areTimesCompared, relation }: DateComparison,
): ScopeComparison {
  if (!areTimesCompared) return scopes;
  const relations = new Map(scopes.relations);
  relations.delete("time");
  return { ...scopes, relations: relation === "same" ? relations.set("time", "same") : relations };
}
