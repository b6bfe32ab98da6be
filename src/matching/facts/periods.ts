import { type CivilDate, civilDate, lastDayOfMonth, partsOf } from "../../lib/dates/civil-date.ts";
import { DAY_MS } from "../../lib/durations.ts";
import { findClockTimes, type PlacedClockTime } from "../../text/clock-times.ts";
import { findTextDates, type TextDate, type TextSpan } from "../../text/text-dates.ts";
import { type TimeOfDay, toTimeOfDay } from "./times.ts";

/** The first Oscars were held in 1929. */
const OSCARS_YEAR_0 = 1928;
const OSCARS_PATTERN = /\b([0-9]{2})(?:st|nd|rd|th)(?= academyaward)/g;
/** Numbers above this are more often quantities than years. */
const NAMED_YEAR_MAX = 2099;

/** "by ___": a question whose deadline the title does not name, as venues write it for a group of deadlines. */
const BLANK_DEADLINE_PATTERN = /\b(?:by|before) (?:_{2,}|\.{3}|…)/;

/** Decides the year of dates whose year is unknown. Only their months and days are compared. */
const ARBITRARY_TIME = Date.UTC(2026, 6, 1);

/** A date in a title as a range of days, counted from 1970-01-01. */
export interface Period {
  /** First day; null if only the last day is named ("by June 30"). */
  readonly from: CivilDate | null;
  readonly to: CivilDate;
  /** deadline: a deadline or range of the question. edition: the edition of a contest ("Eurovision 2026"). */
  readonly kind: "deadline" | "edition";
  /** Whether the period names an event inside it ("the January 2027 meeting"). */
  readonly isNamed?: true;
  /** Whether neither the text nor a closing time tells the year; `from` and `to` are then in an arbitrary year. */
  readonly isYearUnknown?: true;
}

export interface DatedText {
  readonly periods: readonly Period[];
  /** The dates from which the periods are derived, except editions of the Oscars. */
  readonly dates: readonly TextDate[];
  readonly clock: readonly PlacedClockTime[];
  /** The times of `clock` in UTC. */
  readonly times: readonly TimeOfDay[];
  /** The text without times. */
  readonly untimed: string;
  /** The text without times and dates, and without the prepositions of the dates. */
  readonly rest: string;
}

/**
 * Finds the dates and times of a normalised text. A day that does not exist, and a date without a year if `near` is
 * null, give no period. The last deadline in the text decides whether "ET" is daylight saving time; without a deadline,
 * `near` decides. A deadline that is left blank ("by ___") is at `near`.
 *
 * @param near  when the market closes, Unix milliseconds. A date without a year is the occurrence nearest to this time
 * @param isYearOptional  whether a date without a year is read if `near` is null
 */
export function findDates(text: string, near: number | null, { isYearOptional = false } = {}): DatedText {
  const clock = findClockTimes(text);
  const sentence = { start: 0, end: text.length };
  const closeAt = near ?? (isYearOptional ? ARBITRARY_TIME : null);
  const found = findTextDates(text, [sentence], closeAt === null ? null : { closeAt });
  const periods: Period[] = [];
  const dates: TextDate[] = [];
  const dateSpans: TextSpan[] = [];
  for (const date of found) {
    const previous = dates.at(-1);
    const isRangeEnd = previous !== undefined && isRange(previous, date, text.slice(previous.end, date.start));
    const dated = isRangeEnd ? rangeOf(previous, date) : periodOf(date);
    if (dated === null) continue;
    const period: Period = near === null && date.isYearInferred ? { ...dated, isYearUnknown: true } : dated;
    if (isRangeEnd) periods.pop();
    periods.push(period);
    dates.push(date);
    const hasLead = !date.isName && (date.unit === "day" || date.relation !== "none" || date.isEndOf);
    dateSpans.push({ start: isRangeEnd ? previous.end : hasLead ? date.leadStart : date.start, end: date.end });
  }
  for (const match of text.matchAll(OSCARS_PATTERN)) {
    periods.push(wholeYear(OSCARS_YEAR_0 + Number(match[1]), "edition"));
    dateSpans.push({ start: match.index, end: match.index + match[0].length });
  }
  if (periods.length === 0 && near !== null && BLANK_DEADLINE_PATTERN.test(text))
    periods.push({ from: null, to: Math.floor((near - 1) / DAY_MS), kind: "deadline" });
  const day = latestPeriod(periods, "deadline")?.to ?? (near === null ? null : Math.floor(near / DAY_MS));
  return {
    periods,
    dates,
    clock,
    times: clock.map((time) => toTimeOfDay(time, day)),
    untimed: without(text, clock),
    rest: without(text, [...clock, ...dateSpans]),
  };
}

/** Returns the text without the spans, which may overlap and be in any order. */
function without(text: string, spans: readonly TextSpan[]): string {
  let rest = "";
  let position = 0;
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    rest += `${text.slice(position, Math.max(position, start))} `;
    position = Math.max(position, end);
  }
  return (rest + text.slice(position)).replace(/\s+/g, " ").trim();
}

const wholeYear = (year: number, kind: Period["kind"]): Period => ({
  from: civilDate(year, 1, 1),
  to: lastDayOfMonth(year, 12),
  kind,
});

/** "May 28 to June 3", "between May 28 and June 3". */
function isRange(first: TextDate, last: TextDate, between: string): boolean {
  if (first.unit !== last.unit || last.unit === "year" || last.unit === "season") return false;
  return /^ ?(?:-|to) ?$/.test(between) || (first.relation === "start" && /^ (?:and|to) $/.test(between));
}

/** "December 28 - January 3". Null if the range ends before it starts. */
function rangeOf(first: TextDate, last: TextDate): Period | null {
  const { year, month, day } = partsOf(first.firstDay);
  // The year before may have no 29 February; 28 February is then used.
  const yearBefore = Math.min(lastDayOfMonth(year - 1, month - 1) + day, lastDayOfMonth(year - 1, month));
  const from = first.firstDay > last.lastDay && first.isYearInferred ? yearBefore : first.firstDay;
  return from > last.lastDay ? null : { from, to: last.lastDay, kind: "deadline" };
}

/**
 * Converts a date to a period; null if it is a number that looks like a year. "Before the 2026 midterms" counts as
 * before 2026. The day of the event is unknown, so the period must conflict with every deadline in 2026.
 */
function periodOf({ unit, isName, isEndOf, relation, time, firstDay, lastDay }: TextDate): Period | null {
  const isYear = unit === "year" || unit === "season";
  // "before 5 PM on May 5" ends on May 5.
  if (relation === "before" && (unit === "year" || !isName))
    return { from: null, to: time === null ? firstDay - 1 : firstDay, kind: "deadline" };
  if (isYear && (isName || ["none", "covered", "start"].includes(relation))) {
    const { year } = partsOf(lastDay);
    return year > NAMED_YEAR_MAX ? null : wholeYear(year, "edition");
  }
  const isOpen = !isName && (relation === "by" || isEndOf);
  const period: Period = { from: isOpen ? null : firstDay, to: lastDay, kind: "deadline" };
  return isName ? { ...period, isNamed: true } : period;
}

export type PeriodRelation = "same" | "conflict" | "unknown";

export interface PeriodComparison {
  readonly relation: PeriodRelation;
  /** Last day of A minus last day of B; null unless both name a deadline. */
  readonly daysApart: number | null;
  /** Whether both are deadlines without a first day, so that the earlier deadline implies the later one. */
  readonly areOpenStarts: boolean;
}

/** Maximum difference of equal deadlines, in days: "by" and "before September 1" often mean the same. */
const DEADLINE_TOLERANCE_DAYS = 1;
/**
 * Minimum length of a range whose first day is ignored, in days: "in 2026" usually means "by the end of 2026", because
 * it has begun.
 */
const OPEN_START_DAYS_MIN = 100;

/** Compares the last deadlines and the editions of two titles. */
export function comparePeriods(a: readonly Period[], b: readonly Period[]): PeriodComparison {
  const deadlineA = latestPeriod(a, "deadline");
  const deadlineB = latestPeriod(b, "deadline");
  if (deadlineA !== null && deadlineB !== null) return compareDeadlines(deadlineA, deadlineB);
  const without = (relation: PeriodRelation): PeriodComparison => ({ relation, daysApart: null, areOpenStarts: false });
  const editionA = latestPeriod(a, "edition");
  const editionB = latestPeriod(b, "edition");
  if (editionA !== null && editionB !== null) return without(editionA.to === editionB.to ? "same" : "conflict");
  const [edition, deadline] = editionA !== null ? [editionA, deadlineB] : [editionB, deadlineA];
  if (edition === null || deadline === null || deadline.isYearUnknown === true) return without("unknown");
  if (partsOf(edition.to).year !== partsOf(deadline.to).year) return without("conflict");
  // The contest of 2026 can be decided on any day of 2026.
  return without(Math.abs(edition.to - deadline.to) <= DEADLINE_TOLERANCE_DAYS ? "same" : "unknown");
}

/** Whether a day is in a period that names an event: the January meeting ends on January 27. */
const isDayOf = (day: Period, named: Period): boolean =>
  named.isNamed === true && day.from === day.to && named.from !== null && named.from <= day.to && day.to <= named.to;

function compareDeadlines(a: Period, b: Period): PeriodComparison {
  if (a.isYearUnknown === true && b.isYearUnknown !== true) return withoutDistance(compareDeadlines(inYearOf(a, b), b));
  if (b.isYearUnknown === true && a.isYearUnknown !== true) return withoutDistance(compareDeadlines(a, inYearOf(b, a)));
  const daysApart = a.to - b.to;
  const areOpenStarts = a.from === null && b.from === null;
  // "On May 14" and "on May 15" are two questions, as are "May 11-17" and "May 12-18".
  const areRanges = a.from !== null && b.from !== null;
  const isSame = areRanges
    ? isDayOf(a, b) || isDayOf(b, a) || (daysApart === 0 && a.to - (a.from ?? 0) === b.to - (b.from ?? 0))
    : Math.abs(daysApart) <= DEADLINE_TOLERANCE_DAYS && !isShortRange(a) && !isShortRange(b);
  // Without years, it is unknown which date comes first.
  return {
    relation: isSame ? "same" : "conflict",
    daysApart: a.isYearUnknown === true ? null : daysApart,
    areOpenStarts,
  };
}

/** Removes the distance of two dates. It is unknown if one of them has no year. */
const withoutDistance = (comparison: PeriodComparison): PeriodComparison => ({ ...comparison, daysApart: null });

/** Returns a period without a year in the year in which it is nearest to another period. */
function inYearOf({ isYearUnknown: _, ...period }: Period, other: Period): Period {
  const { from, to } = period;
  const { year } = partsOf(other.to);
  const { year: ownYear } = partsOf(to);
  const shifted = [year - 1, year, year + 1].map((candidate): Period => {
    const shift = (day: CivilDate) => inYear(day, candidate - ownYear);
    return { ...period, from: from === null ? null : shift(from), to: shift(to) };
  });
  const distance = (period: Period) => Math.abs(period.to - other.to);
  return shifted.reduce((best, period) => (distance(period) < distance(best) ? period : best));
}

/** Returns the same day some years later. 29 February is 28 February in other years. */
function inYear(date: CivilDate, yearsLater: number): CivilDate {
  const { year, month, day } = partsOf(date);
  return Math.min(lastDayOfMonth(year + yearsLater, month - 1) + day, lastDayOfMonth(year + yearsLater, month));
}

/** Whether the first day is part of the question: "in May" is not "by May 31". */
const isShortRange = ({ from, to }: Period): boolean => from !== null && to - from < OPEN_START_DAYS_MIN;

export function latestPeriod(periods: readonly Period[], kind: Period["kind"]): Period | null {
  let best: Period | null = null;
  for (const period of periods) if (period.kind === kind && (best === null || period.to > best.to)) best = period;
  return best;
}
