import { lastDayOfMonth, partsOf } from "../../../lib/dates/civil-date.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import type { RulesDate } from "./model.ts";

const NUMBER_WORDS = "one two three four five six seven eight nine ten eleven twelve".split(" ");
const NEXT_PERIOD = new RegExp(
  `\\b(?:in|within|during|over) the next (?:(\\d{1,3}|${NUMBER_WORDS.join("|")}) )?(day|week|month|year)s?\\b`,
  "i",
);

/** Adds months to an instant, at the same time of day in UTC. 31 August plus one month is 30 September. */
function addMonths(at: number, months: number): number {
  const { year, month, day } = partsOf(Math.floor(at / DAY_MS));
  const first = new Date(Date.UTC(year, month - 1 + months, 1));
  const lastDay = partsOf(lastDayOfMonth(first.getUTCFullYear(), first.getUTCMonth() + 1)).day;
  return first.getTime() + (Math.min(day, lastDay) - 1) * DAY_MS + (at - Math.floor(at / DAY_MS) * DAY_MS);
}

/** Whether a title has a deadline relative to when it was written: "in the next six months". */
export const hasRelativeDeadline = (title: string): boolean => NEXT_PERIOD.test(title);

/**
 * Returns the deadline of "in the next six months" in a title, or null if the title has none.
 *
 * @param writtenAt  when the title was written, Unix milliseconds
 */
export function findRelativeDeadline(title: string, writtenAt: number): RulesDate | null {
  const match = NEXT_PERIOD.exec(title);
  if (match === null) return null;
  const [text, number = "1", unit = ""] = match;
  const wordIndex = NUMBER_WORDS.indexOf(number.toLowerCase());
  const count = wordIndex === -1 ? Number(number) : wordIndex + 1;
  const dayCount = { day: 1, week: 7 }[unit.toLowerCase()];
  const monthCount = unit.toLowerCase() === "year" ? 12 : 1;
  const at = dayCount === undefined ? addMonths(writtenAt, count * monthCount) : writtenAt + count * dayCount * DAY_MS;
  return { start: match.index, end: match.index + text.length, relation: "by", at, endAt: at };
}
