import { civilDate, nearest, THURSDAY, WEDNESDAY, type Weekday } from "../../lib/dates/civil-date.ts";
import { createAnnouncementCalendar } from "./announcements.ts";
import type { Calendar } from "./calendar.ts";
import { parseDates } from "./published-dates.ts";

/**
 * Computes the dates of a year without published dates: for each usual date, the nearest day with the given weekday.
 *
 * @param usualDates  "month-day" of each meeting
 */
const computeMeetings = (usualDates: string, weekday: Weekday) => (year: number) =>
  parseDates(year, usualDates).map((date) => nearest(date, weekday));

/** Within 8 days of the actual dates in 2018 to 2027, except March 2020. */
export const expectedFomcDates = computeMeetings("1-29 3-19 5-1 6-14 7-29 9-19 11-2 12-13", WEDNESDAY);
/** Within 14 days of the actual dates in 2019 to 2028. */
export const expectedEcbDates = computeMeetings("1-28 3-11 4-20 6-8 7-22 9-11 10-26 12-14", THURSDAY);
/** Within 7 days of the actual dates in 2019 to 2027. */
export const expectedBankOfEnglandDates = computeMeetings("2-3 3-20 5-6 6-20 8-3 9-19 11-5 12-17", THURSDAY);

export const FOMC: Calendar = createAnnouncementCalendar({
  name: "FOMC meeting",
  label: "FOMC decision",
  table: "FOMC",
  compute: expectedFomcDates,
  zone: "America/New_York",
  minutes: 14 * 60,
});

/** Since the meeting of July 2022, the ECB announces at 14:15; before, at 13:45. */
const ECB_NEW_TIME_SINCE = civilDate(2022, 7, 21);

export const ECB: Calendar = createAnnouncementCalendar({
  name: "ECB monetary policy meeting",
  label: "ECB decision",
  table: "ECB",
  compute: expectedEcbDates,
  zone: "Europe/Berlin",
  minutes: (date) => (date >= ECB_NEW_TIME_SINCE ? 14 * 60 + 15 : 13 * 60 + 45),
});

export const BANK_OF_ENGLAND: Calendar = createAnnouncementCalendar({
  name: "Bank of England MPC meeting",
  label: "Bank of England decision",
  table: "BANK_OF_ENGLAND",
  compute: expectedBankOfEnglandDates,
  zone: "Europe/London",
  minutes: 12 * 60,
});
