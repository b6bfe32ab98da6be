/** Extracts months, years and numbers from a text, in units that are independent of the spelling. */
import { DAY_MS } from "../../lib/durations.ts";
import { findDateMentions } from "../../text/date-mentions.ts";
import { MONTH_NAMES } from "../../text/months.ts";
import { findDates } from "../facts/periods.ts";
import { findQuantities, isNumericallyEqual, type Quantity, suffixScale } from "../facts/quantities.ts";
import { describeTime } from "../facts/times.ts";
import { normaliseText, ordinalOf, stemsOf } from "../text/words.ts";
import { NEGATION_PATTERN, NUMBER_OF_WORD, QUESTION_PHRASES } from "./lexicon.ts";

/** A number in each unit in which it can be written: 25 bps is also 0.25%. */
export type NumberReading = readonly { readonly value: number; readonly unit: string }[];

export interface TextFacts {
  readonly text: string;
  /** Months from 1 to 12. */
  readonly months: ReadonlySet<number>;
  readonly years: ReadonlySet<number>;
  /** Numbers other than years. A day of a month is one of the numbers. */
  readonly numbers: readonly NumberReading[];
  /** Times of day, as `describeTime` writes them. */
  readonly times: ReadonlySet<string>;
  readonly quantities: readonly Quantity[];
  readonly isNegated: boolean;
  /** Whether the text has "after" or "since". */
  readonly isAfter: boolean;
  /** Equal for texts with the same words and comparators in any order. */
  readonly signature: string;
  /** The text without months, numbers, times and comparators. */
  readonly rest: string;
}

/** "[2024 Formula 1 Season] Will …". */
const TAG_PATTERN = /^\s*\[([^\]]{1,40})\]/;
const AFTER_PATTERN = /\b(?:after|since)\b/;
const AMOUNT_PATTERN =
  /(\$)?(?<![\p{L}0-9.])((?:(?<=^|[\s(])-)?[0-9]+(?:\.[0-9]+)?)(?:(?:st|nd|rd|th)\b| ?(k|thousand|mn|million|m|bn|billion|b|tn|trillion|t)\b)?( ?(?:%|percent\b|percentage points?\b|bps\b|basis points?\b|°[fc]?|degrees?\b))?|(?<=\p{L})([0-9]+)/gu;
const COMPARATOR_PATTERN =
  /\b(?:above|over|more(?: than)?|greater(?: than)?|at least|exceed(?:s|ing)?|reach(?:es)?|hits?|surpass(?:es)?|no less than|higher(?: than)?|below|under|less(?: than)?|fewer(?: than)?|at most|lower than|no more than|between|from|or (?:more|above|higher|greater|over|less|below|lower|fewer|under))\b|[<>≤≥+]=?/g;
const SIGN_PATTERN = /[<>≤≥]=?/g;

/**
 * Extracts the facts of a text.
 *
 * @param near  when the market closes, Unix milliseconds; decides whether "ET" is summer time
 */
export function parseFacts(original: string, near: number | null): TextFacts {
  let text = normaliseText(original.replace(TAG_PATTERN, "$1 "));
  for (const [pattern, replacement] of QUESTION_PHRASES) text = text.replace(pattern, replacement);
  const { times, untimed, rest: undatedText } = findDates(text, near);
  const { months, undated } = takeMonths(untimed);
  const years = new Set<number>();
  const numbers: NumberReading[] = [];
  const rest = undated.replace(AMOUNT_PATTERN, (_match: string, ...args: (string | undefined)[]) => {
    const [dollar, digits, suffix, unit, glued] = args;
    const value = Number(digits ?? glued) * suffixScale(suffix);
    const isYear = glued === undefined && suffix === undefined && unit === undefined && dollar === undefined;
    if (isYear && /^20[0-9]{2}$/.test(digits ?? "")) years.add(value);
    else if (Number.isFinite(value)) numbers.push(numberWithUnits(value, dollar, unit));
    return " ";
  });
  const withoutNumbers = rest.replace(/\p{L}+/gu, (word) => {
    const value = NUMBER_OF_WORD.get(word) ?? ordinalValue(word);
    if (value === null) return word;
    numbers.push([{ value, unit: "x" }]);
    return " ";
  });
  return {
    text,
    months,
    years,
    numbers,
    times: new Set(times.map(describeTime)),
    quantities: findQuantities(undatedText).quantities,
    signature: [...stemsOf(untimed), ...(untimed.match(SIGN_PATTERN) ?? [])].sort().join(" "),
    isNegated: (text.match(NEGATION_PATTERN)?.length ?? 0) % 2 === 1,
    isAfter: months.size + years.size > 0 && AFTER_PATTERN.test(text),
    rest: withoutNumbers.replace(COMPARATOR_PATTERN, " ").replace(/\s+/g, " ").trim(),
  };
}

/** Removes the months from a text. Their days and years remain as numbers. */
function takeMonths(text: string): { months: ReadonlySet<number>; undated: string } {
  const months = new Set<number>();
  let undated = "";
  let position = 0;
  for (const { start, end, first, lastDay, unit } of findDateMentions(text)) {
    if (unit !== "day" && unit !== "month") continue;
    months.add(first.month);
    const numbers = [unit === "day" ? first.day : null, lastDay, first.year].filter((value) => value != null);
    undated += `${text.slice(position, start)} ${numbers.join(" ")} `;
    position = end;
  }
  return { months, undated: undated + text.slice(position) };
}

/** Whether two numbers are equal. A number without a unit can equal a number with any unit. */
export function isSameNumber(a: NumberReading, b: NumberReading): boolean {
  return a.some((x) => b.some((y) => isNumericallyEqual(x.value, y.value) && isSameUnit(x.unit, y.unit)));
}

export const isSameUnit = (a: string, b: string): boolean => a === b || a === "x" || b === "x";

function numberWithUnits(value: number, dollar: string | undefined, unit: string | undefined): NumberReading {
  const name = unit?.trim() ?? "";
  if (name.startsWith("b"))
    return [
      { value, unit: "bps" },
      { value: value / 100, unit: "%" },
    ];
  if (name.startsWith("%") || name.startsWith("p"))
    return [
      { value, unit: "%" },
      { value: value * 100, unit: "bps" },
    ];
  if (name !== "") return [{ value, unit: "°" }];
  return [{ value, unit: dollar === undefined ? "x" : "$" }];
}

function ordinalValue(word: string): number | null {
  const ordinal = ordinalOf(word);
  return ordinal === null ? null : Number.parseInt(ordinal, 10);
}

/**
 * Replaces relative dates such as "today", "this month" or "next year" with absolute dates.
 *
 * @param at  Unix milliseconds
 */
export function replaceRelativeDates(text: string, at: number): string {
  const date = new Date(at);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const dayText = (time: number): string => {
    const day = new Date(time);
    return `${MONTH_NAMES[day.getUTCMonth()]} ${day.getUTCDate()}`;
  };
  const monthText = (offset: number): string => {
    const day = new Date(Date.UTC(year, month + offset, 1));
    return `${MONTH_NAMES[day.getUTCMonth()]} ${day.getUTCFullYear()}`;
  };
  return text
    .replace(/\b(?:today|tonight)\b/gi, () => dayText(at))
    .replace(/\btomorrow\b/gi, () => dayText(at + DAY_MS))
    .replace(/\bthis month\b/gi, () => monthText(0))
    .replace(/\b(?<!the )next month\b/gi, () => monthText(1))
    .replace(/\bthis year\b|\b(?:the )?end of (?:the )?year\b|\byear[- ]?end\b/gi, () => String(year))
    .replace(/\b(?<!the )next year\b/gi, () => String(year + 1));
}
