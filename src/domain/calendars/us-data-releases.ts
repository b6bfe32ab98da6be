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
} from "../../lib/civil-date.ts";
import { zonedInstant } from "../../lib/zoned-time.ts";
import { assertYear, type Calendar, type Certainty, type Occurrence } from "./calendar.ts";
import { publishedDates } from "./published-dates.ts";
import { isFederalHoliday } from "./us-holidays.ts";

const RELEASE_MINUTES = 8 * 60 + 30;
const MONTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] as const;

function releaseAt(date: CivilDate, label: string, certainty: Certainty): Occurrence {
  const at = zonedInstant(date, RELEASE_MINUTES, "America/New_York");
  return { at, endAt: at, label, certainty };
}

/** Returns the day, moved back from a weekend to Friday. */
function onOrBeforeWeekday(date: CivilDate): CivilDate {
  const weekday = weekdayOf(date);
  return weekday === SATURDAY || weekday === SUNDAY ? onOrBefore(date, FRIDAY) : date;
}

/**
 * The jobs report (Employment Situation): the third Friday after the week, Sunday to Saturday, that contains the 12th of the
 * previous month; a week later if that is 1 to 3 January; on Thursday if the Friday is a federal holiday. It gives every
 * scheduled date of 2019 to 2026; a government shutdown can delay a release.
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

/** The CPI without a published date: the weekday nearest to the 12th that is not a Monday. Within 4 days for 2018 to 2024. */
export function expectedCpiDate(year: number, month: number): CivilDate {
  const middle = civilDate(year, month, 12);
  const weekday = weekdayOf(middle);
  if (weekday === SATURDAY) return middle - 1;
  return weekday === SUNDAY || weekday === MONDAY ? onOrAfter(middle, TUESDAY) : middle;
}

/**
 * Personal Income and Outlays (PCE): the last Friday of the month; in November the last Wednesday; in December the last
 * weekday up to the 23rd. Within 7 days for 2020 to 2024.
 */
export function expectedPceDate(year: number, month: number): CivilDate {
  if (month === 11) return lastOfMonth(year, 11, WEDNESDAY);
  return month === 12 ? onOrBeforeWeekday(civilDate(year, 12, 23)) : lastOfMonth(year, month, FRIDAY);
}

/**
 * Gross Domestic Product: the last Thursday of the month; in November the last Wednesday; in December the last weekday up
 * to the 22nd. Within 6 days for 2020 to 2024.
 */
export function expectedGdpDate(year: number, month: number): CivilDate {
  if (month === 11) return lastOfMonth(year, 11, WEDNESDAY);
  return month === 12 ? onOrBeforeWeekday(civilDate(year, 12, 22)) : lastOfMonth(year, month, THURSDAY);
}

/** Weekly jobless claims: each Thursday, or the Wednesday before a Thursday that is a federal holiday. */
export function joblessClaimsDates(year: number): readonly CivilDate[] {
  const dates: CivilDate[] = [];
  const end = civilDate(year + 1, 1, 1);
  // The release of the next year's first Thursday is in this year if that Thursday is New Year's Day.
  for (let thursday = onOrAfter(civilDate(year, 1, 1), THURSDAY); thursday <= end; thursday += 7) {
    const release = isFederalHoliday(thursday) ? thursday - 1 : thursday;
    if (partsOf(release).year === year) dates.push(release);
  }
  return dates;
}

export const JOBS_REPORT: Calendar = {
  name: "Employment Situation",
  occurrencesOf(year) {
    assertYear(year);
    return MONTHS.map((month) => releaseAt(jobsReportDate(year, month), "Jobs report", "rule"));
  },
};

export const CPI: Calendar = {
  name: "Consumer Price Index",
  occurrencesOf(year) {
    assertYear(year);
    const published = publishedDates("CPI", year);
    if (published !== null) return published.map((date) => releaseAt(date, "CPI release", "published"));
    return MONTHS.map((month) => releaseAt(expectedCpiDate(year, month), "CPI release", "expected"));
  },
};

export const PCE: Calendar = {
  name: "Personal Income and Outlays",
  occurrencesOf(year) {
    assertYear(year);
    return MONTHS.map((month) => releaseAt(expectedPceDate(year, month), "PCE release", "expected"));
  },
};

const GDP_ESTIMATES = ["advance", "second", "third"] as const;

export const GDP: Calendar = {
  name: "Gross Domestic Product",
  occurrencesOf(year) {
    assertYear(year);
    return MONTHS.map((month) =>
      releaseAt(
        expectedGdpDate(year, month),
        `GDP ${GDP_ESTIMATES[(month - 1) % 3] ?? "advance"} estimate`,
        "expected",
      ),
    );
  },
};

export const JOBLESS_CLAIMS: Calendar = {
  name: "Weekly jobless claims",
  occurrencesOf(year) {
    assertYear(year);
    return joblessClaimsDates(year).map((date) => releaseAt(date, "Weekly jobless claims", "rule"));
  },
};
