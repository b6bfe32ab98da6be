import { lastDayOfMonth, partsOf } from "../lib/dates/civil-date.ts";
import { type ClockTime, timeZoneOf } from "./clock-times.ts";
import { MONTH_PATTERN, monthNumber } from "./months.ts";

/** Maximum number of dates read from one text. */
const DATES_MAX = 40;
const YEAR_MIN = 2000;
const YEAR_MAX = 2199;
const YEAR = "(2[01]\\d{2})";
const ORDINAL = "(\\d{1,2})(?:st|nd|rd|th)?";
/** Excludes the month of an impossible day ("31 April"). */
const NO_DAY = "(?<!\\b\\d{1,2}(?:st|nd|rd|th)? (?:of )?)";
/** A text without any of these has no date. */
const DATE_HINT = new RegExp(`\\d|${MONTH_PATTERN}|\\byear\\b|\\bEOY`, "i");

export type DateUnit = "day" | "month" | "quarter" | "half" | "year" | "season";

interface DateParts {
  /** First day. The year is null if the text does not state it; month and day count from 1. */
  readonly first: { readonly year: number | null; readonly month: number; readonly day: number };
  /** Length of the period. A "season" is a range such as "2025-26"; `first` then has its second year. */
  readonly unit: DateUnit;
  /** Last day of a range of days of the same month. */
  readonly lastDay?: number;
  /** The time inside an ISO date. */
  readonly time?: ClockTime;
  /** Meaning without a preposition. end: last day of a year ("EOY"). within: the whole year ("this year"). */
  readonly implies?: "end" | "within";
}

/** A date in a text before its year is inferred. Positions are offsets of UTF-16 units. */
export interface DateMention extends DateParts {
  readonly start: number;
  readonly end: number;
}

/**
 * The order of day and month is known if one of the numbers is above 12, or both are equal. Two digits mean 2000 to
 * 2099.
 */
function parseNumericDate(first: number, second: number, year: number): DateParts | null {
  const isMonthFirst = second > 12 || first === second;
  if (!isMonthFirst && first <= 12) return null;
  const [month, day] = isMonthFirst ? [first, second] : [second, first];
  return { first: { year: year < 100 ? 2000 + year : year, month, day }, unit: "day" };
}

const numberOrNull = (text: string | undefined): number | null => (text === undefined ? null : Number(text));
const wholeYear = (year: number | null): DateParts => ({ first: { year, month: 1, day: 1 }, unit: "year" });

type Groups = readonly (string | undefined)[];
const PATTERNS: readonly (readonly [RegExp, (groups: Groups) => DateParts | null])[] = [
  [
    /\b(2[01]\d{2})-(\d{2})-(\d{2})(?:[t ](\d{2}):(\d{2})(?::\d{2}(?:\.\d{1,6})?)? ?(z|utc)?)?(?![\d-])/gi,
    ([, year, month, day, hour, minute, zone]) => ({
      first: { year: Number(year), month: Number(month), day: Number(day) },
      unit: "day",
      ...(hour === undefined
        ? {}
        : {
            time: { minutes: Number(hour) * 60 + Number(minute), zone: zone === undefined ? null : timeZoneOf(zone) },
          }),
    }),
  ],
  [
    /(?<![\d/])(\d{1,2})\/(\d{1,2})\/(2[01]\d{2}|\d{2})(?![\d/])/g,
    ([, first, second, year]) => parseNumericDate(Number(first), Number(second), Number(year)),
  ],
  [
    new RegExp(
      `\\b${MONTH_PATTERN} ${ORDINAL}(?![\\w:])(?: ?(?:-|–|—|to|and|or) ?${ORDINAL}(?![\\w:]|\\.\\d| ?(?:[ap]\\.?m|${MONTH_PATTERN})))?(?:,? ${YEAR}(?!\\d))?`,
      "gi",
    ),
    ([, month = "", day, lastDay, , year]) => ({
      first: { year: numberOrNull(year), month: monthNumber(month), day: Number(day) },
      unit: "day",
      ...(lastDay === undefined ? {} : { lastDay: Number(lastDay) }),
    }),
  ],
  [
    new RegExp(`(?<![\\d:.])\\b${ORDINAL}(?: of)? ${MONTH_PATTERN}(?![\\w-])(?:,? ${YEAR}(?!\\d))?`, "gi"),
    ([, day, month = "", year]) => ({
      first: { year: numberOrNull(year), month: monthNumber(month), day: Number(day) },
      unit: "day",
    }),
  ],
  [
    new RegExp(`${NO_DAY}\\b${MONTH_PATTERN},? (?:of )?${YEAR}(?!\\d)`, "gi"),
    ([, month = "", year]) => ({ first: { year: Number(year), month: monthNumber(month), day: 1 }, unit: "month" }),
  ],
  [
    new RegExp(`${NO_DAY}\\b${MONTH_PATTERN}(?!\\w|-(?!${MONTH_PATTERN})| \\d)`, "gi"),
    ([, month = ""]) => ({ first: { year: null, month: monthNumber(month), day: 1 }, unit: "month" }),
  ],
  [
    new RegExp(
      `\\b(?:Q([1-4])(?:(?: of|,)? ?${YEAR}(?!\\d))?|(first|second|third|fourth) quarter(?: of|,)? ?${YEAR}(?!\\d))(?!\\w)`,
      "gi",
    ),
    ([, number, year, word = "", yearOfWord]) => {
      const quarter = Number(number ?? 1 + ["first", "second", "third", "fourth"].indexOf(word.toLowerCase()));
      return { first: { year: numberOrNull(year ?? yearOfWord), month: quarter * 3 - 2, day: 1 }, unit: "quarter" };
    },
  ],
  [
    new RegExp(`(?<!\\d)${YEAR},? ?Q([1-4])(?!\\w)`, "gi"),
    ([, year, quarter]) => ({ first: { year: Number(year), month: Number(quarter) * 3 - 2, day: 1 }, unit: "quarter" }),
  ],
  [
    new RegExp(`\\b(?:H([12])|(first|second) half)(?: of|,)? ?${YEAR}(?!\\d)`, "gi"),
    ([, number, word = "", year]) => {
      const isSecond = number === "2" || word.toLowerCase() === "second";
      return { first: { year: Number(year), month: isSecond ? 7 : 1, day: 1 }, unit: "half" };
    },
  ],
  [
    /\b(20\d{2}) ?[-/–] ?(20)?(\d{2})\b(?!-)/g,
    ([, first, , second]) =>
      2000 + Number(second) - Number(first) === 1 ? { ...wholeYear(2000 + Number(second)), unit: "season" } : null,
  ],
  [
    new RegExp(`\\b(?:(?:EOY ?|year[- ]end,? )${YEAR}(?!\\d)|${YEAR},? (?:EOY|year[- ]end)\\b)`, "gi"),
    ([, after, year = after]) => ({ ...wholeYear(Number(year)), implies: "end" }),
  ],
  [
    new RegExp(`(?<![\\w$€£.])${YEAR}(?!\\w|[.,]\\d| ?(?:%|bps\\b|points?\\b|seats?\\b|votes?\\b))`, "g"),
    ([, year]) => wholeYear(Number(year)),
  ],
  [/\bEOY\b|\byear[- ]end\b/gi, () => ({ ...wholeYear(null), implies: "end" })],
  [/\bthis year\b(?!['’])/gi, () => ({ ...wholeYear(null), implies: "within" })],
  [/(?<=\bend of (?:the )?)year\b(?! \d)/gi, () => wholeYear(null)],
];

/** Lower-case names of months that are also ordinary words ("it may rain"). */
const ORDINARY_WORD = /^(?:may|march|mar|sept?|dec)\b/;
const BEFORE_MONTH =
  /\b(?:in|of|by|before|after|during|for|until|till|through|between|since|on|this|next|early|mid|late|end)(?: the)?[ -]$/i;
/** Names of statistics are also written as one word ("consumerpriceindex"). */
const CALENDAR_NOUN =
  "(?:meetings?|decisions?|cpi|pce|ppi|gdp|inflation|jobs|unemployment|reports?|[a-z]*(?:payrolls?|priceindex|unemploymentrate|domesticproduct|joblessclaims))";
const AFTER_MONTH = new RegExp(`^(?: fed| fomc| federalreserve)? ${CALENDAR_NOUN}\\b`);
/** Text before a month at the end of a text: "Fed decision: may". In "theresa may", another word precedes it. */
const BEFORE_LAST_MONTH = new RegExp(`(?:^|[^\\w\\s]\\s*|\\b${CALENDAR_NOUN} )$`);

/**
 * Whether a match is an ordinary word and not a month. In a text with capital letters, months start with a capital
 * letter. In a lower-case text, "may" and "mar" without a number are months in three cases: after a preposition, before
 * a calendar noun, and as the last word, alone or after a calendar noun.
 */
function isOrdinaryWord(text: string, match: RegExpExecArray, hasCapitals: boolean): boolean {
  if (hasCapitals) return ORDINARY_WORD.test(match[0]);
  if (!/^(?:may|mar)\.?$/.test(match[0])) return false;
  const before = text.slice(Math.max(0, match.index - 20), match.index);
  const after = text.slice(match.index + match[0].length);
  const isLast = /^\W*$/.test(after) && BEFORE_LAST_MONTH.test(before);
  return !isLast && !AFTER_MONTH.test(after) && !BEFORE_MONTH.test(before);
}

function isPossible({ first: { year, month, day }, lastDay }: DateParts): boolean {
  if (year !== null && (year < YEAR_MIN || year > YEAR_MAX)) return false;
  // Without a year, 29 February is possible.
  const daysMax = month >= 1 && month <= 12 ? partsOf(lastDayOfMonth(year ?? 2024, month)).day : 0;
  return day >= 1 && day <= daysMax && (lastDay === undefined || (lastDay > day && lastDay <= daysMax));
}

/**
 * Finds the dates of an English text, in text order, at most 40. Of two overlapping dates, the one that starts first is
 * kept, or the longer one if both start together. A day that does not exist and a numeric date such as 3/4/2026, whose
 * order is unknown, are omitted. No pattern backtracks over more than a few words.
 */
export function findDateMentions(text: string): readonly DateMention[] {
  if (!DATE_HINT.test(text)) return [];
  const hasCapitals = /\p{Lu}/u.test(text);
  const found: DateMention[] = [];
  for (const [pattern, parse] of PATTERNS) {
    let count = 0;
    for (const match of text.matchAll(pattern)) {
      if (++count > DATES_MAX) break;
      if (isOrdinaryWord(text, match, hasCapitals)) continue;
      const parts = parse(match);
      if (parts === null || !isPossible(parts)) continue;
      found.push({ ...parts, start: match.index, end: match.index + match[0].length });
    }
  }
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  const kept: DateMention[] = [];
  for (const mention of found) if (mention.start >= (kept.at(-1)?.end ?? 0)) kept.push(mention);
  return kept.slice(0, DATES_MAX);
}
