/**
 * Dates of recurring real-world events, and the simulated events that close on them. Dates follow a rule, unless a
 * known published date differs from it.
 */
import { DAY_MS, HOUR_MS } from "../../../src/lib/durations.ts";
import { createBestPictureEvent } from "./culture.ts";
import { createFedDecisionEvent, createInflationEvent, createPayrollsEvent } from "./economics.ts";
import type { Template } from "./event-definition.ts";
import {
  createHouseControlEvent,
  createPresidentialElectionEvent,
  createUsPresidentialElectionEvent,
} from "./politics.ts";
import { createBasketballChampionEvent, createFootballChampionEvent, createSuperBowlEvent } from "./sports.ts";

/** A simulated event that closes on a date of the calendar. */
export interface ScheduledEvent {
  /** Identifies the event; the same in every world. */
  readonly number: number;
  readonly template: Template;
  /** Unix milliseconds. */
  readonly openAt: number;
  readonly closeAt: number;
}

interface Calendar {
  readonly template: Template;
  /** Days from opening to closing. */
  readonly openDays: number;
  /** Times in the UTC year, Unix milliseconds; at most one per month. */
  readonly timesIn: (year: number) => readonly number[];
}

const SUNDAY = 0;
const MONDAY = 1;
const TUESDAY = 2;
const WEDNESDAY = 3;
const MONTHS_PER_YEAR = 12;
/** Event numbers per calendar: one per month of the years 2000 to 2099. */
const NUMBERS_PER_CALENDAR = 100 * MONTHS_PER_YEAR;
const EVERY_MONTH = Array.from({ length: MONTHS_PER_YEAR }, (_, month) => month + 1);

/** Returns the day of the month of the nth given weekday; `month` is 1 to 12. */
function nthWeekday(year: number, month: number, weekday: number, n: number): number {
  const firstDay = new Date(Date.UTC(year, month - 1, 1)).getUTCDay();
  return 1 + ((weekday - firstDay + 7) % 7) + (n - 1) * 7;
}

function lastWeekday(year: number, month: number, weekday: number): number {
  const dayCount = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const fifth = nthWeekday(year, month, weekday, 5);
  return fifth <= dayCount ? fifth : fifth - 7;
}

const utc = (year: number, month: number, day: number, hour: number) => Date.UTC(year, month - 1, day, hour);

/** Converts a time in New York to Unix milliseconds, with the daylight saving rules since 2007 (March to November). */
function newYork(year: number, month: number, day: number, hours: number): number {
  const standardAt = Date.UTC(year, month - 1, day) + (hours + 5) * HOUR_MS;
  const startsAt = utc(year, 3, nthWeekday(year, 3, SUNDAY, 2), 7);
  const endsAt = utc(year, 11, nthWeekday(year, 11, SUNDAY, 1), 6);
  const isDaylightTime = standardAt >= startsAt && standardAt < endsAt;
  return isDaylightTime ? standardAt - HOUR_MS : standardAt;
}

/** Published last days of Fed meetings that differ from the rule, as [month, day]. */
const FED_EXCEPTIONS: Readonly<Record<number, readonly (readonly [month: number, day: number])[]>> = {
  2025: [[5, 7]],
  2027: [[6, 9]],
};

/** Last days of the eight Fed meetings of a year: a Wednesday; the decision is published at 14:00 in New York. */
export function fedDecisionTimes(year: number): number[] {
  const days = [
    [1, lastWeekday(year, 1, WEDNESDAY)],
    [3, nthWeekday(year, 3, WEDNESDAY, 3)],
    [4, lastWeekday(year, 4, WEDNESDAY)],
    [6, nthWeekday(year, 6, WEDNESDAY, 3)],
    [7, lastWeekday(year, 7, WEDNESDAY)],
    [9, nthWeekday(year, 9, WEDNESDAY, 3)],
    [10, lastWeekday(year, 10, WEDNESDAY)],
    [12, nthWeekday(year, 12, WEDNESDAY, 2)],
  ] as const;
  const exceptions = FED_EXCEPTIONS[year] ?? [];
  return days.map(([month, day]) => {
    // A meeting in late April according to the rule can have a published date in early May.
    const exception = exceptions.find((published) => published[0] === month || (month === 4 && published[0] === 5));
    return newYork(year, exception?.[0] ?? month, exception?.[1] ?? day, 14);
  });
}

/** Published days of the CPI releases by month. Releases of other years are on the second Wednesday. */
const CPI_DAYS: Readonly<Record<number, readonly number[]>> = {
  2026: [13, 11, 11, 10, 12, 10, 14, 12, 11, 14, 10, 10],
};

/** Times of the CPI releases of a year: 8:30 in New York. */
export function cpiReleaseTimes(year: number): number[] {
  return EVERY_MONTH.map((month) => {
    const day = CPI_DAYS[year]?.[month - 1] ?? nthWeekday(year, month, WEDNESDAY, 2);
    return newYork(year, month, day, 8.5);
  });
}

/**
 * Times of the jobs reports of a year: 8:30 in New York on the third Friday after the week (Sunday to Saturday) that
 * contains the 12th of the previous month. A report due by January 3 is published a week later. A report due on
 * Independence Day, or on the holiday before it, is published a day earlier.
 */
export function jobsReportTimes(year: number): number[] {
  return EVERY_MONTH.map((month) => {
    const twelfth = new Date(Date.UTC(year, month - 2, 12));
    const saturdayAt = twelfth.getTime() + (6 - twelfth.getUTCDay()) * DAY_MS;
    const friday = new Date(saturdayAt + 20 * DAY_MS);
    const day = friday.getUTCDate();
    if (month === 1 && day <= 3) return newYork(year, 1, day + 7, 8.5);
    const isHoliday = month === 7 && (day === 3 || day === 4);
    return newYork(year, month, isHoliday ? day - 1 : day, 8.5);
  });
}

/** The evening of the federal election day of the United States. */
const usElectionTime = (year: number): number => utc(year, 11, nthWeekday(year, 11, MONDAY, 1) + 1, 23);

const once = (timeIn: (year: number) => number) => (year: number) => [timeIn(year)];
const every =
  (years: number, since: number, timeIn: (year: number) => number) =>
  (year: number): number[] =>
    (year - since) % years === 0 ? [timeIn(year)] : [];

/** Calendar of a presidential election on the nth given weekday of a month. */
function presidentialElection(
  country: string,
  cycle: { readonly years: number; readonly since: number },
  [month, weekday, n]: readonly [month: number, weekday: number, n: number],
): Calendar {
  return {
    template: createPresidentialElectionEvent(country),
    openDays: 400,
    timesIn: every(cycle.years, cycle.since, (year) => utc(year, month, nthWeekday(year, month, weekday, n), 20)),
  };
}

/** The position of a calendar determines its event numbers. */
const CALENDARS: readonly Calendar[] = [
  { template: createFedDecisionEvent, openDays: 200, timesIn: fedDecisionTimes },
  { template: createInflationEvent, openDays: 45, timesIn: cpiReleaseTimes },
  { template: createPayrollsEvent, openDays: 40, timesIn: jobsReportTimes },
  {
    template: createSuperBowlEvent,
    openDays: 200,
    timesIn: once((year) => utc(year, 2, nthWeekday(year, 2, SUNDAY, 2), 23)),
  },
  {
    template: createBestPictureEvent,
    openDays: 250,
    timesIn: once((year) => utc(year, 3, nthWeekday(year, 3, SUNDAY, 2), 23)),
  },
  {
    template: createFootballChampionEvent,
    openDays: 300,
    timesIn: once((year) => utc(year, 5, lastWeekday(year, 5, SUNDAY), 17)),
  },
  {
    template: createBasketballChampionEvent,
    openDays: 300,
    timesIn: once((year) => utc(year, 6, nthWeekday(year, 6, SUNDAY, 3), 23)),
  },
  presidentialElection("France", { years: 5, since: 2027 }, [4, SUNDAY, 4]),
  presidentialElection("Kenya", { years: 5, since: 2027 }, [8, TUESDAY, 2]),
  presidentialElection("Argentina", { years: 4, since: 2027 }, [10, SUNDAY, 4]),
  presidentialElection("Chile", { years: 4, since: 2029 }, [11, SUNDAY, 3]),
  presidentialElection("Brazil", { years: 4, since: 2026 }, [10, SUNDAY, 1]),
  presidentialElection("Peru", { years: 5, since: 2026 }, [4, SUNDAY, 2]),
  presidentialElection("Mexico", { years: 6, since: 2030 }, [6, SUNDAY, 1]),
  { template: createUsPresidentialElectionEvent, openDays: 730, timesIn: every(4, 2028, usElectionTime) },
  { template: createHouseControlEvent, openDays: 720, timesIn: every(2, 2026, usElectionTime) },
];

/** Returns the events of all calendars that close in [from, to), by closing time. */
export function listScheduledEvents(from: number, to: number): ScheduledEvent[] {
  const events: ScheduledEvent[] = [];
  for (let year = new Date(from).getUTCFullYear(); year <= new Date(to).getUTCFullYear(); year++) {
    for (const [position, { template, openDays, timesIn }] of CALENDARS.entries()) {
      for (const closeAt of timesIn(year)) {
        if (closeAt < from || closeAt >= to) continue;
        const month = new Date(closeAt).getUTCMonth();
        const number = position * NUMBERS_PER_CALENDAR + (year % 100) * MONTHS_PER_YEAR + month;
        events.push({ number, template, openAt: closeAt - openDays * DAY_MS, closeAt });
      }
    }
  }
  return events.sort((a, b) => a.closeAt - b.closeAt || a.number - b.number);
}

/** Maximum time from opening to closing of a scheduled event. */
export const SCHEDULED_OPEN_MS_MAX = Math.max(...CALENDARS.map(({ openDays }) => openDays)) * DAY_MS;

/** Returns the first Sunday evening (18:00 UTC) at or after a time, when local elections end. */
export function nextElectionSunday(at: number): number {
  const evening = new Date(at);
  evening.setUTCHours(18, 0, 0, 0);
  const sunday = evening.getTime() + ((7 - evening.getUTCDay()) % 7) * DAY_MS;
  return sunday >= at ? sunday : sunday + 7 * DAY_MS;
}
