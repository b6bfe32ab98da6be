import { type CivilDate, civilDate, lastDayOfMonth, partsOf } from "../lib/dates/civil-date.ts";
import { type TimeZone, zonedInstant } from "../lib/dates/zoned-time.ts";
import { DAY_MS } from "../lib/durations.ts";
import { type ClockTime, findTimeAfter, findTimeBefore } from "./clock-times.ts";
import { type DateMention, type DateUnit, findDateMentions } from "./date-mentions.ts";

/** A part of a text, as offsets of UTF-16 units: from `start` (inclusive) to `end` (exclusive). */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * How a text refers to a date. by: up to and including the date. before: up to but not including the date. on: at the
 * date. within: during the period. covered: the period of a statistic ("sales for 2026"). start: from the date on.
 * none: no preposition.
 */
export type DateRelation = "by" | "before" | "on" | "within" | "covered" | "start" | "none";

/** A date in a text. The span covers the date without its preposition. */
export interface TextDate extends TextSpan {
  /** Start of the date's preposition, with a time or weekday in between; `start` without a preposition. */
  readonly leadStart: number;
  /** The preposition in lower case, such as "by"; empty if there is none. */
  readonly preposition: string;
  readonly relation: DateRelation;
  /** Whether something is planned at the date ("scheduled for May 5"); never for `by`, `before` and `start`. */
  readonly isScheduled: boolean;
  /** Whether the text names the end of the period ("end of June"). */
  readonly isEndOf: boolean;
  /**
   * Whether the month or year is part of a name ("the December 2026 meeting", "2026 World Cup"). Never true for a day.
   */
  readonly isName: boolean;
  readonly unit: DateUnit;
  readonly isYearInferred: boolean;
  readonly firstDay: CivilDate;
  /** Last day of the period; `firstDay` for a day. */
  readonly lastDay: CivilDate;
  /** The time of day stated beside a day; null if there is none or its zone is not known. */
  readonly time: ClockTime | null;
}

/** Start and end of a date, Unix milliseconds. */
export interface DateInstants {
  /**
   * The stated time. Without one: for `by`, `within` and `covered` the last minute of the day or period; for the other
   * relations and for a scheduled date its start.
   */
  readonly at: number;
  /** The last millisecond of the day or period; `at` if a time is stated. */
  readonly endAt: number;
}

/**
 * Reference time, in Unix milliseconds, from which a missing year is inferred. `listedAt`: the first occurrence from 31
 * days before this time on (92 days for a quarter). `closeAt`: the occurrence whose last day is nearest to this time.
 */
export type YearReference = { readonly listedAt: number } | { readonly closeAt: number };

const WORDS: readonly (readonly [DateRelation, string])[] = [
  ["by", "by, on or before, no later than, not later than, until, till, through, thru"],
  ["before", "before, prior to, earlier than"],
  ["on", "on, at, as of"],
  ["within", "in, during, throughout, within, calendar year"],
  ["start", "from, since, after, starting, beginning, between"],
];
const RELATIONS = new Map(WORDS.flatMap(([relation, words]) => words.split(", ").map((word) => [word, relation])));
const PREPOSITION = new RegExp(
  `\\b(${[...RELATIONS.keys()].join("|")}|to|and|or|for|of)\\s(?:(?:(?<=\\b(?:by|before|prior to)\\s)the start of(?: the year)?|the year|the|its|their|this|calendar year)\\s)?$`,
  "i",
);
const END_OF =
  /(?:\b(by|before|prior to|no later than|not later than|between now and|at|until|through|on)\s)?(?:\bthe\s)?\bend of\s(?:(?:the|this)\s)?(?:year\s)?$/i;
const SCHEDULED =
  /\b(?:scheduled|expected|slated|planned|set|held|takes? place|taking place|meeting|premiere|ceremony|match|game|election|primary|final|released? on)\b[^.;]{0,40}$/i;
const WEEKDAY = /\b(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day,? )?$/i;

/** Text after a month or year that is part of a name ("the December 2026 meeting"). */
const NAMED =
  /^(?: \w+){0,3}? (?:meetings?|reports?|releases?|decisions?|elections?|midterms?|seasons?|sessions?|summits?|editions?|ceremony|primary|primaries)\b/i;
/** Text after a year that is part of a name ("2026 World Cup") or starts a range ("2026-28"). */
const NAMED_YEAR = /^(?:[-/–]\d| [A-Z]| (?:season|election|midterm|meeting|edition|calendar|fiscal|primar))/;

/** Text before a year that is part of a name ("the 2026 census"). */
const NAME_LEAD = /\b(?:the|its|their|an?) $/i;

type Lead = Pick<TextDate, "leadStart" | "preposition" | "relation" | "isScheduled" | "isEndOf" | "time">;

/** "sales for 2026", "the forecast for December 3, 2026" */
const relationOfFor = (unit: DateUnit): DateRelation => (unit === "day" ? "on" : "covered");

/**
 * Parses the preposition and the time before a date. `previous` is the relation of the date before it in the same
 * sentence.
 */
function parseLead(text: string, mention: DateMention, previous: DateRelation | null): Lead {
  const { start, unit, implies } = mention;
  const weekdayStart = start - (WEEKDAY.exec(text.slice(Math.max(0, start - 12), start))?.[0].length ?? 0);
  const clock = findTimeBefore(text, weekdayStart);
  const prefixEnd = clock?.start ?? weekdayStart;
  const prefixStart = Math.max(0, prefixEnd - 80);
  const bare = text.slice(prefixStart, prefixEnd);
  const endOf = END_OF.exec(bare);
  const match = endOf ?? PREPOSITION.exec(bare);
  const leadStart = match === null ? start : prefixStart + match.index;
  const preposition = match === null ? (/[-–—]\s?$/.test(bare) ? "to" : "") : (match[1] ?? "").toLowerCase();
  const lead = (relation: DateRelation, { isEndOf = false, isScheduled = false } = {}): Lead => {
    return { leadStart, preposition, relation, isScheduled, isEndOf, time: clock?.time ?? null };
  };
  const known = preposition === "for" ? relationOfFor(unit) : RELATIONS.get(preposition);
  if (endOf !== null || implies === "end")
    return lead(preposition === "between now and" || (known !== undefined && known !== "on") ? "by" : "on", {
      isEndOf: true,
    });
  const isJoined = preposition === "and" || preposition === "to" || preposition === "or";
  // "increase from 2023 to 2025" compares two years.
  if (isJoined && unit === "year") return lead("none");
  // "between A and B", "from A to B"
  if (isJoined && previous === "start") return lead("by");
  // "before the earlier of his death or August 1": the preposition is earlier in the sentence.
  const distant = /\b(by|before)\b[^.;]{0,60} (?:and|or) (?:the )?$/i.exec(bare)?.[1]?.toLowerCase();
  // "12:00 ET on December 10": the preposition follows the time.
  const relation = RELATIONS.get(distant ?? "") ?? known ?? (clock === null ? (implies ?? "none") : "on");
  // "by 2027" and "by July 2027" mean before the period begins; "by the end of 2026" names its end.
  if (relation === "by" && preposition === "by" && unit !== "day") return lead("before");
  return lead(relation, {
    isScheduled: !["by", "before", "start"].includes(relation) && SCHEDULED.test(bare),
  });
}

const MONTH_COUNTS = { month: 1, quarter: 3, half: 6, year: 12, season: 12 } as const;

function lastDayOf({ first, unit, lastDay }: DateMention, year: number): CivilDate {
  if (unit === "day") return civilDate(year, first.month, lastDay ?? first.day);
  return lastDayOfMonth(year, first.month + MONTH_COUNTS[unit] - 1);
}

/** Infers the year by the rule of `YearReference`. Null if no nearby year from 1901 to 9998 has this day. */
function inferYear(mention: DateMention, reference: YearReference): number | null {
  const day = Math.floor(("closeAt" in reference ? reference.closeAt : reference.listedAt) / DAY_MS);
  const { year } = partsOf(day);
  const { first, unit } = mention;
  if (!(year > 1900 && year < 9999)) return null;
  if (unit === "year") return year;
  if ("listedAt" in reference) {
    const firstDay = civilDate(year, first.month, 1) + first.day - 1;
    return firstDay >= day - (unit === "quarter" ? 92 : 31) ? year : year + 1;
  }
  const distance = (candidate: number) => Math.abs(lastDayOf(mention, candidate) - day);
  const candidates = [year - 1, year, year + 1].filter((candidate) => hasDay(mention, candidate));
  return candidates.sort((a, b) => distance(a) - distance(b))[0] ?? null;
}

const hasDay = ({ first: { month, day }, lastDay }: DateMention, year: number): boolean =>
  month !== 2 || (lastDay ?? day) <= partsOf(lastDayOfMonth(year, 2)).day;

/** In "between December 5 and January 10, 2026" the first date is in 2025. */
function yearFromNext(mention: DateMention, next: DateMention): number {
  const [{ month, day }, year] = [mention.first, next.first.year ?? 0];
  const isLater = month > next.first.month || (month === next.first.month && day > next.first.day);
  return isLater && next.unit !== "year" ? year - 1 : year;
}

/**
 * Finds the dates of an English text, at most 40, in its order. A day that does not exist, a date such as 3/4/2026,
 * whose order is unknown, and a date without a year if `reference` is null are omitted. The caller bounds the length of
 * the text.
 *
 * @param sentences  the sentences of the text; a range and an inferred year do not extend beyond their sentence
 * @param reference  how to infer a missing year; not used if a later date of the sentence has a year
 */
export function findTextDates(
  text: string,
  sentences: readonly TextSpan[],
  reference: YearReference | null,
): readonly TextDate[] {
  const mentions = findDateMentions(text);
  const dates: TextDate[] = [];
  // The previous date, even if discarded: "between June and December 2027".
  let previous: { readonly start: number; readonly relation: DateRelation } | null = null;
  for (const [index, mention] of mentions.entries()) {
    const { start, end, first, unit } = mention;
    const sentence = sentences.find((span) => start >= span.start && start < span.end);
    const isSameSentence = previous !== null && sentence !== undefined && previous.start >= sentence.start;
    const parsed = parseLead(text, mention, isSameSentence ? (previous?.relation ?? null) : null);
    previous = { start, relation: parsed.relation };
    const after = text.slice(end, end + 60);
    const isName =
      unit === "season" ||
      (unit !== "day" && NAMED.test(after)) ||
      (unit === "year" &&
        !parsed.isEndOf &&
        (NAMED_YEAR.test(after) || NAME_LEAD.test(text.slice(Math.max(0, start - 8), start))));
    const isYearOfSentence = (later: DateMention) =>
      later.first.year !== null && later.start < (sentence?.end ?? 0) && isDated(text, later);
    const next = first.year === null ? mentions.slice(index + 1, index + 4).find(isYearOfSentence) : undefined;
    const inferred = next === undefined ? reference && inferYear(mention, reference) : yearFromNext(mention, next);
    const year = first.year ?? inferred;
    if (year === null || !hasDay(mention, year)) continue;
    dates.push({
      ...parsed,
      start,
      end,
      isName,
      unit,
      isYearInferred: first.year === null && next === undefined,
      firstDay: civilDate(year, first.month, first.day),
      lastDay: lastDayOf(mention, year),
      time: mention.time ?? (unit === "day" ? (findTimeAfter(text, end) ?? parsed.time) : null),
    });
  }
  return dates;
}

/** Whether earlier dates can take the year of this date. False for a year in a name ("Eurovision 2026"). */
const isDated = (text: string, mention: DateMention): boolean =>
  mention.unit !== "season" && (mention.unit !== "year" || parseLead(text, mention, null).relation !== "none");

/**
 * Returns the start and end of a date.
 *
 * @param zone  the default time zone
 */
export function instantsOf(date: TextDate, zone: TimeZone): DateInstants {
  const { relation, isScheduled, unit, firstDay, lastDay, time } = date;
  if (time !== null) {
    const at = zonedInstant(lastDay, time.minutes, time.zone ?? zone);
    return { at, endAt: at };
  }
  const isEnd =
    !isScheduled && (["by", "within", "covered"].includes(relation) || (unit !== "day" && relation === "on"));
  const at = isEnd ? zonedInstant(lastDay, 23 * 60 + 59, zone) : zonedInstant(firstDay, 0, zone);
  return { at, endAt: zonedInstant(lastDay + 1, 0, zone) - 1 };
}
