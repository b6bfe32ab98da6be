import { type CivilDate, MONDAY, nthOfMonth } from "../../lib/dates/civil-date.ts";
import { createCalendar, wholeDays } from "./calendar.ts";

/** The Tuesday after the first Monday of November (2 U.S.C. 7, 3 U.S.C. 1). */
export function federalElectionDate(year: number): CivilDate {
  return nthOfMonth(year, 11, MONDAY, 1) + 1;
}

/** Elections of the House, the Senate and the President, in even years. The occurrence is the day in New York. */
export const US_FEDERAL_ELECTION = createCalendar("US federal election", (year) => {
  if (year % 2 !== 0) return [];
  const date = federalElectionDate(year);
  const label = year % 4 === 0 ? "US presidential election day" : "US midterm election day";
  return [{ ...wholeDays(date, date, "America/New_York"), label, certainty: "rule" }];
});
