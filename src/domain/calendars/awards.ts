import { type CivilDate, nthOfMonth, SUNDAY } from "../../lib/civil-date.ts";
import { zonedInstant } from "../../lib/zoned-time.ts";
import { assertYear, type Calendar } from "./calendar.ts";
import { type PublishedTable, publishedDates } from "./published-dates.ts";

/** The second Sunday of March. Within 14 days for 2018 and 2022 to 2028; the pandemic moved 2021. */
export const expectedOscarsDate = (year: number): CivilDate => nthOfMonth(year, 3, SUNDAY, 2);
/** The first Sunday of February: exact for 2023 to 2027. */
export const expectedGrammysDate = (year: number): CivilDate => nthOfMonth(year, 2, SUNDAY, 1);
/** The third Sunday of September. Within 7 days for 2018 to 2026, except the ceremony of 2023. */
export const expectedEmmysDate = (year: number): CivilDate => nthOfMonth(year, 9, SUNDAY, 3);

function createAwardsCalendar(options: {
  readonly name: string;
  readonly label: string;
  readonly table: PublishedTable;
  readonly compute: (year: number) => CivilDate;
  /** Start in New York, in minutes after midnight. */
  readonly minutes: (year: number) => number;
}): Calendar {
  const { name, label, table, compute, minutes } = options;
  return {
    name,
    occurrencesOf(year) {
      assertYear(year);
      const published = publishedDates(table, year);
      return (published ?? [compute(year)]).map((date) => {
        const at = zonedInstant(date, minutes(year), "America/New_York");
        return { at, endAt: at, label, certainty: published === null ? "expected" : "published" };
      });
    },
  };
}

export const OSCARS = createAwardsCalendar({
  ...{ name: "Academy Awards", label: "Academy Awards ceremony", table: "OSCARS", compute: expectedOscarsDate },
  minutes: (year) => (year >= 2024 ? 19 : 20) * 60,
});

export const GRAMMYS = createAwardsCalendar({
  ...{ name: "Grammy Awards", label: "Grammy Awards ceremony", table: "GRAMMYS", compute: expectedGrammysDate },
  minutes: () => 20 * 60,
});

export const EMMYS = createAwardsCalendar({
  ...{ name: "Primetime Emmy Awards", label: "Emmy Awards ceremony", table: "EMMYS", compute: expectedEmmysDate },
  minutes: () => 20 * 60,
});
