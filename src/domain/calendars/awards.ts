import { type CivilDate, nthOfMonth, partsOf, SUNDAY } from "../../lib/dates/civil-date.ts";
import { createAnnouncementCalendar } from "./announcements.ts";

/**
 * The second Sunday of March. Within 14 days of the actual date in 2018, 2019 and 2022 to 2028. The ceremony of 2020
 * was four weeks earlier, and the pandemic moved the ceremony of 2021.
 */
export const expectedOscarsDate = (year: number): CivilDate => nthOfMonth(year, 3, SUNDAY, 2);
/** The first Sunday of February: exact for 2023 to 2027. */
export const expectedGrammysDate = (year: number): CivilDate => nthOfMonth(year, 2, SUNDAY, 1);
/** The third Sunday of September. Within 7 days of the actual date in 2018 to 2026, except the ceremony of 2023. */
export const expectedEmmysDate = (year: number): CivilDate => nthOfMonth(year, 9, SUNDAY, 3);

export const OSCARS = createAnnouncementCalendar({
  name: "Academy Awards",
  label: "Academy Awards ceremony",
  table: "OSCARS",
  compute: (year) => [expectedOscarsDate(year)],
  zone: "America/New_York",
  minutes: (date) => (partsOf(date).year >= 2024 ? 19 : 20) * 60,
});

export const GRAMMYS = createAnnouncementCalendar({
  name: "Grammy Awards",
  label: "Grammy Awards ceremony",
  table: "GRAMMYS",
  compute: (year) => [expectedGrammysDate(year)],
  zone: "America/New_York",
  minutes: 20 * 60,
});

export const EMMYS = createAnnouncementCalendar({
  name: "Primetime Emmy Awards",
  label: "Emmy Awards ceremony",
  table: "EMMYS",
  compute: (year) => [expectedEmmysDate(year)],
  zone: "America/New_York",
  minutes: 20 * 60,
});
