import { type CivilDate, civilDate, lastDayOfMonth, partsOf } from "../../../lib/civil-date.ts";
import { type TimeZone, zonedInstant } from "../../../lib/zoned-time.ts";
import { type ClockTime, clockAfter, clockBefore, MONTH, monthNumber, zoneOf } from "./date-words.ts";
import type { Span } from "./plain-text.ts";

/** At most this many dates of one text are read. */
const DATES_MAX = 40;
const YEAR_MIN = 2000;
const YEAR_MAX = 2199;
const YEAR = "(2[01]\\d{2})";

/**
 * How a text refers to a date. by: up to and including it. before: not including it. on: at it. within: during the period.
 * covered: the period of a figure ("sales for 2026"). start: from it on. scheduled: the date at which something is planned.
 * none: merely named.
 */
export type DateRelation = "by" | "before" | "on" | "within" | "covered" | "start" | "scheduled" | "none";

export interface TextDate {
  readonly start: number;
  readonly end: number;
  readonly relation: DateRelation;
  /**
   * The instant meant, Unix milliseconds: the stated time; else for `by`, `within` and `covered` the last minute of the day or
   * period, and for the other relations the beginning of it.
   */
  readonly at: number;
  /** The last millisecond of the day or period; `at` if a time is stated. */
  readonly endAt: number;
}

interface Found {
  readonly start: number;
  readonly end: number;
  readonly first: { readonly year: number | null; readonly month: number; readonly day: number };
  /** Length of the period. */
  readonly unit: "day" | "month" | "quarter" | "half" | "year";
  /** Last day of a range of days of the same month. */
  readonly lastDay?: number;
  readonly time?: ClockTime;
}

/** The order of day and month is known if one of the numbers is above 12, or both are equal. Two digits mean 2000 to 2099. */
function readNumericDate(first: number, second: number, year: number): Omit<Found, "start" | "end"> | null {
  const isMonthFirst = second > 12 || first === second;
  if (!isMonthFirst && first <= 12) return null;
  const [month, day] = isMonthFirst ? [first, second] : [second, first];
  return { first: { year: year < 100 ? 2000 + year : year, month, day }, unit: "day" };
}

const PATTERNS: readonly (readonly [RegExp, (match: RegExpExecArray) => Omit<Found, "start" | "end"> | null])[] = [
  [
    /\b(2[01]\d{2})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::\d{2}(?:\.\d{1,6})?)? ?(Z|UTC)?)?(?![\d-])/g,
    ([, year, month, day, hour, minute, zone]) => ({
      first: { year: Number(year), month: Number(month), day: Number(day) },
      unit: "day",
      ...(hour === undefined
        ? {}
        : { time: { minutes: Number(hour) * 60 + Number(minute), zone: zone === undefined ? null : zoneOf(zone) } }),
    }),
  ],
  [
    /(?<![\d/])(\d{1,2})\/(\d{1,2})\/(2[01]\d{2}|\d{2})(?![\d/])/g,
    ([, first, second, year]) => readNumericDate(Number(first), Number(second), Number(year)),
  ],
  [
    new RegExp(
      `\\b${MONTH} (\\d{1,2})(?:st|nd|rd|th)?(?![\\d:])(?: ?(?:-|–|—|to|and|or) ?(\\d{1,2})(?:st|nd|rd|th)?(?![\\d:.]| ?(?:[ap]\\.?m|${MONTH})))?(?:,? ${YEAR}(?!\\d))?`,
      "gi",
    ),
    ([, month = "", day, lastDay, , year]) => ({
      first: { year: year === undefined ? null : Number(year), month: monthNumber(month), day: Number(day) },
      unit: "day",
      ...(lastDay === undefined ? {} : { lastDay: Number(lastDay) }),
    }),
  ],
  [
    new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)?(?: of)? ${MONTH}(?:,? ${YEAR}(?!\\d))?`, "gi"),
    ([, day, month = "", year]) => ({
      first: { year: year === undefined ? null : Number(year), month: monthNumber(month), day: Number(day) },
      unit: "day",
    }),
  ],
  [
    new RegExp(`\\b${MONTH},? (?:of )?${YEAR}(?!\\d)`, "gi"),
    ([, month = "", year]) => ({ first: { year: Number(year), month: monthNumber(month), day: 1 }, unit: "month" }),
  ],
  [
    new RegExp(`\\b(?:Q([1-4])|(first|second|third|fourth) quarter)(?: of|,)? ?${YEAR}(?!\\d)`, "gi"),
    ([, number, word = "", year]) => {
      const quarter =
        number === undefined ? ["first", "second", "third", "fourth"].indexOf(word.toLowerCase()) : Number(number) - 1;
      return { first: { year: Number(year), month: quarter * 3 + 1, day: 1 }, unit: "quarter" };
    },
  ],
  [
    new RegExp(`\\b(?:H([12])|(first|second) half)(?: of|,)? ?${YEAR}(?!\\d)`, "gi"),
    ([, number, word = "", year]) => {
      const isSecond = number === "2" || word.toLowerCase() === "second";
      return { first: { year: Number(year), month: isSecond ? 7 : 1, day: 1 }, unit: "half" };
    },
  ],
  [
    // A month alone only after a preposition: "may" and "march" are also verbs.
    new RegExp(
      `(?<=\\b(?:[Ii]n|[Bb]y|[Bb]efore|[Uu]ntil|[Tt]hrough|[Dd]uring|[Bb]etween|[Ff]rom|of) (?:the )?(?:end of |mid[- ])?)${MONTH}(?![\\w-]| \\d)`,
      "g",
    ),
    ([, month = ""]) => ({ first: { year: null, month: monthNumber(month), day: 1 }, unit: "month" }),
  ],
  [
    // A year alone only after a preposition, and not as part of a season ("2026-27") or a name ("2026 World Cup").
    new RegExp(
      `(?<=\\b(?:[Ii]n|[Bb]y|[Bb]efore|[Dd]uring|[Tt]hrough|[Uu]ntil|[Ff]or|end of|[Pp]rior to|[Tt]hroughout|of) (?:the year )?|\\bEOY ?)${YEAR}(?![\\d/–-]| (?:[A-Z]|season|election|midterm|meeting|edition|calendar|fiscal|primar))`,
      "g",
    ),
    ([, year]) => ({ first: { year: Number(year), month: 1, day: 1 }, unit: "year" }),
  ],
  [
    // The end of the current year.
    /\bEOY\b(?! ?\d)|(?<=\bend of (?:the|this) )year\b(?! \d)/g,
    () => ({ first: { year: null, month: 1, day: 1 }, unit: "year" }),
  ],
];

/** Finds the dates in the order of the text. Where two patterns overlap, the earlier and longer match is kept. */
function findDates(text: string): readonly Found[] {
  const found: Found[] = [];
  for (const [pattern, read] of PATTERNS) {
    let count = 0;
    for (const match of text.matchAll(pattern)) {
      if (++count > DATES_MAX) break;
      // The verb "may" and the like: the name of a month has a capital letter.
      if (/^(?:may|march|mar|sept?|dec)\b/.test(match[0])) continue;
      const part = read(match as RegExpExecArray);
      if (part === null || !isPossible(part)) continue;
      found.push({ ...part, start: match.index, end: match.index + match[0].length });
    }
  }
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  const kept: Found[] = [];
  for (const date of found) {
    const last = kept.at(-1);
    if (last === undefined || date.start >= last.end) kept.push(date);
  }
  return kept.slice(0, DATES_MAX);
}

function isPossible({ first: { year, month, day }, lastDay }: Omit<Found, "start" | "end">): boolean {
  if (year !== null && (year < YEAR_MIN || year > YEAR_MAX)) return false;
  // 29 February is possible in a year that is still to be inferred.
  const daysMax = month >= 1 && month <= 12 ? partsOf(lastDayOfMonth(year ?? 2024, month)).day : 0;
  return day >= 1 && day <= daysMax && (lastDay === undefined || (lastDay > day && lastDay <= daysMax));
}

const RELATION_WORDS: Readonly<Record<string, DateRelation>> = {
  by: "by",
  "on or before": "by",
  "no later than": "by",
  "not later than": "by",
  until: "by",
  till: "by",
  through: "by",
  thru: "by",
  before: "before",
  "prior to": "before",
  "earlier than": "before",
  on: "on",
  at: "on",
  "as of": "on",
  in: "within",
  during: "within",
  throughout: "within",
  within: "within",
  from: "start",
  since: "start",
  after: "start",
  starting: "start",
  beginning: "start",
  between: "start",
};
const PREPOSITION =
  /\b(on or before|no later than|not later than|prior to|earlier than|by|before|until|till|through|thru|to|between|and|from|since|after|starting|beginning|on|at|as of|in|during|throughout|within|for|of|or)\s(?:(?:the year|the|its|their|this)\s)?$/i;
const END_OF =
  /\b(?:(by|before|between now and|at|until|through|on)\s)?(?:the\s)?(?:end of\s(?:(?:the|this)\s)?(?:year\s)?|EOY\s?)$/i;
const SCHEDULED =
  /\b(?:scheduled|expected|slated|planned|set|held|takes? place|taking place|meeting|premiere|ceremony|match|game|election|primary|final|released? on)\b[^.;]{0,40}$/i;

/** After a month or a year: it is part of the name of something. */
const NAMED =
  /^(?: \w+){0,3}? (?:meetings?|reports?|releases?|decisions?|elections?|midterms?|seasons?|sessions?|summits?|editions?|ceremony|primary|primaries)\b/i;

interface Reference {
  readonly relation: DateRelation;
  /** Whether the end of a period is meant: "by the end of 2026", but not "by 2027". */
  readonly isPeriodEnd: boolean;
}

/** "sales for 2026", "the forecast for December 3, 2026" */
const relationOfFor = (unit: Found["unit"]): DateRelation => (unit === "day" ? "on" : "covered");

/** Reads the preposition before a date. `previous` is the relation of the date before it in the same sentence. */
function readReference(text: string, { start, unit }: Found, previous: DateRelation | null): Reference {
  const clock = clockBefore(text, start);
  const prefixEnd = clock?.start ?? start;
  const prefix = text.slice(Math.max(0, prefixEnd - 80), prefixEnd) + (text.startsWith("EOY", start) ? "EOY" : "");
  const bare = prefix.replace(/\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day,? $/i, "");
  const endOf = END_OF.exec(bare);
  if (endOf !== null)
    return { relation: /^(?:by|before|between|until|through)/i.test(endOf[1] ?? "") ? "by" : "on", isPeriodEnd: true };
  const word = PREPOSITION.exec(bare)?.[1]?.toLowerCase() ?? (/[-–—]\s?$/.test(bare) ? "to" : "");
  // "between A and B", "from A to B"
  if ((word === "and" || word === "to" || word === "or") && previous === "start")
    return { relation: "by", isPeriodEnd: true };
  // "before the earlier of his death or August 1": the preposition is further ahead.
  const distant =
    word === "or" || word === "and"
      ? /\b(by|before)\b[^.;]{0,60}$/i.exec(bare.slice(0, -word.length - 1))?.[1]
      : undefined;
  // "12:00 ET on December 10": the preposition is behind the time.
  const known = word === "for" ? relationOfFor(unit) : RELATION_WORDS[distant?.toLowerCase() ?? word];
  const relation = known ?? (clock === null ? "none" : "on");
  if (relation !== "by" && relation !== "before" && relation !== "start" && SCHEDULED.test(bare))
    return { relation: "scheduled", isPeriodEnd: false };
  return { relation, isPeriodEnd: word !== "by" };
}

function lastDayOf({ first, unit, lastDay }: Found, year: number): CivilDate {
  if (unit === "day") return civilDate(year, first.month, lastDay ?? first.day);
  const months = { month: 1, quarter: 3, half: 6, year: 12 }[unit];
  return lastDayOfMonth(year, first.month + months - 1);
}

/** Returns the year of a date without one: the first that puts it at or after `reference` minus 31 days. */
function inferYear({ first, unit }: Found, reference: CivilDate): number {
  const { year } = partsOf(reference);
  if (unit === "year") return year;
  const dayOf = (candidate: number) => civilDate(candidate, first.month, 1) + first.day - 1;
  return dayOf(year) >= reference - 31 ? year : year + 1;
}

/** What a text leaves out. */
export interface DateContext {
  /** Zone of times without one, and of days. */
  readonly zone: TimeZone;
  /**
   * Unix milliseconds, such as the time of listing: a date without a year is at or after it, or up to 31 days before, unless
   * a later date of the sentence gives the year.
   */
  readonly referenceAt: number;
}

/**
 * Finds the dates of an English text, at most 40, in the order of the text. A date whose day does not exist is left out, as
 * is a numeric one such as 3/4/2026, whose order is unknown, and a month or year that is only named. The caller bounds the
 * text, and no pattern backtracks over more than a few words.
 *
 * @param sentences  the sentences of the text; a range and an inferred year do not reach over the end of one
 */
export function findTextDates(text: string, sentences: readonly Span[], context: DateContext): readonly TextDate[] {
  const found = findDates(text);
  const referenceDay = Math.floor(context.referenceAt / 86_400_000);
  const dates: TextDate[] = [];
  // The date before, also if it is left out: "between June and December 2027".
  let previous: { readonly start: number; readonly relation: DateRelation } | null = null;
  for (const [index, date] of found.entries()) {
    const sentence = sentences.find(({ start, end }) => date.start >= start && date.start < end);
    const next = found
      .slice(index + 1, index + 4)
      .find(({ first, start }) => first.year !== null && start < (sentence?.end ?? 0));
    const isSameSentence = previous !== null && sentence !== undefined && previous.start >= sentence.start;
    const reference = readReference(text, date, isSameSentence ? (previous?.relation ?? null) : null);
    previous = { start: date.start, relation: reference.relation };
    // "after 2026", "before the December 2026 meeting"
    const isName =
      ["none", "scheduled", "start"].includes(reference.relation) || NAMED.test(text.slice(date.end, date.end + 60));
    if (date.unit !== "day" && isName) continue;
    const year = date.first.year ?? (next === undefined ? inferYear(date, referenceDay) : yearFromNext(date, next));
    if (date.first.month === 2 && date.first.day === 29 && partsOf(lastDayOfMonth(year, 2)).day < 29) continue;
    dates.push(createTextDate(date, { year, reference, text, zone: context.zone }));
  }
  return dates;
}

/** In "between December 5 and January 10, 2026" the first date is in 2025. */
function yearFromNext(date: Found, next: Found): number {
  const year = next.first.year ?? YEAR_MIN;
  const isLater =
    date.first.month > next.first.month || (date.first.month === next.first.month && date.first.day > next.first.day);
  return isLater && next.unit !== "year" ? year - 1 : year;
}

function createTextDate(
  date: Found,
  context: { readonly year: number; readonly reference: Reference; readonly text: string; readonly zone: TimeZone },
): TextDate {
  const { year, reference, text } = context;
  const first = civilDate(year, date.first.month, date.first.day);
  const last = lastDayOf(date, year);
  const isDay = date.unit === "day";
  const time =
    date.time ?? (isDay ? (clockAfter(text, date.end) ?? clockBefore(text, date.start)?.time ?? null) : null);
  const zone = time?.zone ?? context.zone;
  // "by 2027" and "by July 2027" mean before the period begins; "by the end of 2026" names its end.
  const relation = reference.relation === "by" && !isDay && !reference.isPeriodEnd ? "before" : reference.relation;
  const common = { start: date.start, end: date.end, relation };
  if (time !== null) {
    const at = zonedInstant(last, time.minutes, zone);
    return { ...common, at, endAt: at };
  }
  const isEnd =
    ["by", "within", "covered"].includes(relation) || (!isDay && relation === "on" && reference.isPeriodEnd);
  const at = isEnd ? zonedInstant(last, 23 * 60 + 59, zone) : zonedInstant(first, 0, zone);
  return { ...common, at, endAt: zonedInstant(last + 1, 0, zone) - 1 };
}
