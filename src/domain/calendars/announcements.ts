import type { CivilDate } from "../../lib/dates/civil-date.ts";
import { type TimeZone, zonedInstant } from "../../lib/dates/zoned-time.ts";
import { type Calendar, type Certainty, createCalendar } from "./calendar.ts";
import { type PublishedTableName, publishedDates } from "./published-dates.ts";

interface AnnouncementOptions {
  readonly name: string;
  /** Label of every announcement, or a function of the year and of the index in the year, from 0. */
  readonly label: string | ((year: number, index: number) => string);
  readonly table: PublishedTableName;
  /** Returns the dates of a year that is not in the table. */
  readonly compute: (year: number) => readonly CivilDate[];
  /** Certainty of the dates from `compute`; `expected` if omitted. */
  readonly computed?: Certainty;
  readonly zone: TimeZone;
  /** Time of the announcement in minutes after local midnight. */
  readonly minutes: number | ((date: CivilDate) => number);
}

/** Creates a calendar of announcements whose dates are published for some years and computed for the others. */
export function createAnnouncementCalendar(options: AnnouncementOptions): Calendar {
  const { name, label, table, compute, computed = "expected", zone, minutes } = options;
  return createCalendar(name, (year) => {
    const published = publishedDates(table, year);
    const certainty = published === null ? computed : "published";
    return (published ?? compute(year)).map((date, index) => {
      const at = zonedInstant(date, typeof minutes === "number" ? minutes : minutes(date), zone);
      return { at, endAt: at, label: typeof label === "string" ? label : label(year, index), certainty };
    });
  });
}
