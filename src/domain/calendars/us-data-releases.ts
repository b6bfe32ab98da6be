import {
  type CivilDate,
  civilDate,
  FRIDAY,
  lastOfMonth,
  MONDAY,
  onOrAfter,
  onOrBefore,
  partsOf,
  SATURDAY,
  SUNDAY,
  THURSDAY,
  TUESDAY,
  WEDNESDAY,
  weekdayOf,
} from "../../lib/dates/civil-date.ts";
import { zonedInstant } from "../../lib/dates/zoned-time.ts";
import { createAnnouncementCalendar } from "./announcements.ts";
import { createCalendar } from "./calendar.ts";
import { isFederalHoliday } from "./us-holidays.ts";

const MONTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] as const;

/** Returns the date, or for a weekend the Friday before it. */
function onOrBeforeWeekday(date: CivilDate): CivilDate {
  const weekday = weekdayOf(date);
  return weekday === SATURDAY || weekday === SUNDAY ? onOrBefore(date, FRIDAY) : date;
}

/**
 * The jobs report (Employment Situation): the third Friday after the week, Sunday to Saturday, that contains the 12th
 * of the previous month; a week later if that is 1 to 3 January; on Thursday if the Friday is a federal holiday. This
 * rule gives every scheduled date of 2019 to 2026. A government shutdown can delay or cancel a release.
 *
 * @param month  1 to 12
 * @see https://www.bls.gov/schedule/
 */
export function jobsReportDate(year: number, month: number): CivilDate {
  const reference = month === 1 ? civilDate(year - 1, 12, 12) : civilDate(year, month - 1, 12);
  const saturday = onOrAfter(reference, SATURDAY);
  const friday = saturday + 6 + 14;
  const { month: fridayMonth, day } = partsOf(friday);
  const release = fridayMonth === 1 && day <= 3 ? friday + 7 : friday;
  return isFederalHoliday(release) ? release - 1 : release;
}

/**
 * Estimated CPI release: the day from Tuesday to Friday that is nearest to the 12th. Within 4 days of the actual date
 * in 2018 to 2024.
 */
export function expectedCpiDate(year: number, month: number): CivilDate {
  const middle = civilDate(year, month, 12);
  const weekday = weekdayOf(middle);
  if (weekday === SATURDAY) return middle - 1;
  return weekday === SUNDAY || weekday === MONDAY ? onOrAfter(middle, TUESDAY) : middle;
}

/**
 * Personal Income and Outlays (PCE): together with the GDP since 2026; before, the last Friday of the month, in
 * November the last Wednesday, and in December the last weekday up to the 23rd. Within 7 days of the actual date in
 * 2020 to 2024 and since April 2026.
 */
export function expectedPceDate(year: number, month: number): CivilDate {
  if (year >= 2026) return expectedGdpDate(year, month);
  if (month === 11) return lastOfMonth(year, 11, WEDNESDAY);
  return month === 12 ? onOrBeforeWeekday(civilDate(year, 12, 23)) : lastOfMonth(year, month, FRIDAY);
}

/**
 * Gross Domestic Product: the last Thursday of the month; in November the last Wednesday; in December the last weekday
 * up to the 22nd. Within 6 days of the actual date in 2020 to 2024 and since April 2026.
 */
export function expectedGdpDate(year: number, month: number): CivilDate {
  if (month === 11) return lastOfMonth(year, 11, WEDNESDAY);
  return month === 12 ? onOrBeforeWeekday(civilDate(year, 12, 22)) : lastOfMonth(year, month, THURSDAY);
}

/** The Labor Department published no weekly claims during the government shutdown of 2025. */
const NO_CLAIMS = { first: civilDate(2025, 10, 2), last: civilDate(2025, 11, 13) };

/**
 * Weekly jobless claims: each Thursday, or the Wednesday before a Thursday that is a federal holiday. A government
 * shutdown suspends them.
 */
export function joblessClaimsDates(year: number): readonly CivilDate[] {
  const dates: CivilDate[] = [];
  const end = civilDate(year + 1, 1, 1);
  // The release of the next year's first Thursday is in this year if that Thursday is New Year's Day.
  for (let thursday = onOrAfter(civilDate(year, 1, 1), THURSDAY); thursday <= end; thursday += 7) {
    const release = isFederalHoliday(thursday) ? thursday - 1 : thursday;
    const isSuspended = release >= NO_CLAIMS.first && release <= NO_CLAIMS.last;
    if (partsOf(release).year === year && !isSuspended) dates.push(release);
  }
  return dates;
}

/** Computes one release per month, in years without published dates. */
const monthly = (compute: (year: number, month: number) => CivilDate) => (year: number) =>
  MONTHS.map((month) => compute(year, month));
const RELEASE_TIME = { zone: "America/New_York", minutes: 8 * 60 + 30 } as const;

export const JOBS_REPORT = createAnnouncementCalendar({
  name: "Employment Situation",
  label: "Jobs report",
  table: "JOBS_REPORT",
  ...RELEASE_TIME,
  compute: monthly(jobsReportDate),
  computed: "rule",
});

export const CPI = createAnnouncementCalendar({
  name: "Consumer Price Index",
  label: "CPI release",
  table: "CPI",
  ...RELEASE_TIME,
  compute: monthly(expectedCpiDate),
});

export const PCE = createAnnouncementCalendar({
  name: "Personal Income and Outlays",
  label: "PCE release",
  table: "PCE",
  ...RELEASE_TIME,
  compute: monthly(expectedPceDate),
});

const GDP_ESTIMATES = ["advance", "second", "third"] as const;
/** Because of the shutdown of 2025, the first release of 2026 was the third estimate of the third quarter of 2025. */
const firstGdpEstimateOf = (year: number) => (year === 2026 ? 2 : 0);

export const GDP = createAnnouncementCalendar({
  name: "Gross Domestic Product",
  table: "GDP",
  compute: monthly(expectedGdpDate),
  ...RELEASE_TIME,
  label: (year, index) => `GDP ${GDP_ESTIMATES[(firstGdpEstimateOf(year) + index) % 3] ?? "advance"} estimate`,
});

export const JOBLESS_CLAIMS = createCalendar("Weekly jobless claims", (year) =>
  joblessClaimsDates(year).map((date) => {
    const at = zonedInstant(date, RELEASE_TIME.minutes, RELEASE_TIME.zone);
    return { at, endAt: at, label: "Weekly jobless claims", certainty: "rule" };
  }),
);
