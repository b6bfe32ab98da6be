/** Parses a question into its thresholds, its deadlines and the remaining text. */
import { DAY_MS } from "../../lib/durations.ts";
import type { TextDate } from "../../text/text-dates.ts";
import { findDates, type Period } from "../facts/periods.ts";
import { suffixScale } from "../facts/quantities.ts";

const DAY_MINUTES = 1_440;
const NUMBER =
  /(?<![\w.,:-])-?(\d+)(\.\d+)?(?![\w.,:-]*\d)(k|mn|m|bn|b|tn|t| ?thousand| ?million| ?billion| ?trillion)?(?![\w])/g;
/** Words that may reverse the order: "fail to reach at least 3" is narrower than "fail to reach at least 4". */
const REVERSAL =
  /\b(?:not|no|never|neither|nor|without|unless|except|until|till?|if|given|fail(?:s|ed|ing|ure)?|avoid(?:s|ed|ing)?|miss(?:es|ed|ing)?|stay(?:s|ed|ing)?|remain(?:s|ed|ing)?|keep(?:s|ing)?|survive(?:s|d)?|still|continue[sd]?|last(?:s|ed)?)\b|n't\b/;
const ABOVE =
  /(?:\b(?:above|over|exceed(?:s|ing)?|surpass(?:es|ing)?|(?:more|greater|higher) than|at least|minimum of)|[>≥]=?)\s*[$€£]?$/;
const BELOW = /(?:\b(?:below|under|(?:less|fewer|lower) than|at most|(?:dip|drop|fall|decline)s? to)|[<≤]=?)\s*[$€£]?$/;
/** Up to two words, such as a unit, between a number and "or more". */
const UNIT = "(?:\\s?(?:%|°[cf]?|[a-z]+)){0,2}";
const OR_ABOVE = new RegExp(`^(?:\\s?\\+(?!\\s?\\d)|${UNIT}\\s(?:or|and)\\s(?:above|more|higher|greater|over)\\b)`);
const OR_BELOW = new RegExp(`^${UNIT}\\s(?:or|and)\\s(?:below|less|lower|fewer|under)\\b`);
/** "Reach" and "hit" can mean a rise or a fall. */
const TOUCHES = /\b(?:reach(?:es)?|hits?)\s?(?:\((high|low)\)\s?)?[$€£]?$/;
const RULES_UP = /\b(?:above|over|higher|greater|exceeds?|at least|more than|high)\b|[≥>]/;
const RULES_DOWN = /\b(?:below|under|lower|less|falls?|drops?|dips?|at most|low)\b|[≤<]/;
/** A date after one of these words is a deadline. */
const BY: ReadonlySet<string> = new Set(["by", "before", "prior to", "on or before", "no later than"]);
/** A question about a state at the date, which does not imply the same state at a later date. */
const STATE =
  /(?<!\bthere )\b(?:(?:be|is|are) (?:the|in|at|above|below|over|under|between|worth|more|less|an?)|have the)\b/;
/**
 * Range around the closing time of the market, in days. Only within it, a date without a year gets the year of the
 * closing time.
 */
const DAYS_BEFORE_CLOSE_MAX = 45;
const DAYS_AFTER_CLOSE_MAX = 7;

const TEXT_LENGTH_MAX = 1_000;
/** Matches quantities that look like a year, such as "above 2050" and "$2000". A leading zero makes them numbers. */
const QUANTITY_LIKE_YEAR =
  /((?:\b(?:above|over|below|under|than|least|most|exceeds?|reach|hits?|dips? to|drops? to|falls? to) |[<>≤≥]=? ?)[$€£]?|[$€£] ?)(?=20\d{2}(?!\d))/g;

/** A number or a date in a question. */
export interface QuestionSlot {
  readonly value: number;
  /** Whether a smaller or a larger value makes the question wider; null if the text does not say. */
  readonly wider: "smaller" | "larger" | null;
}

export interface ParsedQuestion {
  /** The text in lower case and singular, with numbers, dates and times replaced by placeholders. */
  readonly skeleton: string;
  readonly slots: readonly QuestionSlot[];
}

export interface QuestionContext {
  /** When the market closes, Unix milliseconds; null if unknown. Decides the year of a date that has none. */
  readonly closeAt: number | null;
  /** Rules, which decide whether "reach" means a rise or a fall. */
  readonly rules: string | null;
}

/** Returns the text without numbers, dates, times, case, plurals and punctuation. */
export function skeletonOf(text: string, closeAt: number | null): string {
  return simplify(extractDates(normalise(text), closeAt).rest);
}

/**
 * Parses a question. If a word may reverse the order, its numbers and dates have no direction. Returns null for a text
 * of more than 1,000 characters.
 */
export function parseMarketQuestion(text: string, { closeAt, rules }: QuestionContext): ParsedQuestion | null {
  if (text.length > TEXT_LENGTH_MAX) return null;
  const normalised = normalise(text);
  const isReversed = REVERSAL.test(normalised);
  const { rest, slots: dates, kinds } = extractDates(normalised, closeAt);
  const numbers = [...rest.matchAll(NUMBER)].map((match): QuestionSlot => {
    const before = rest.slice(0, match.index);
    const after = rest.slice(match.index + match[0].length);
    return { value: numberOf(match), wider: widerOf(before, after, rules) };
  });
  const slots = [...dates, ...numbers];
  return {
    skeleton: `${simplify(rest)} ${kinds}`,
    slots: isReversed ? slots.map(({ value }) => ({ value, wider: null })) : slots,
  };
}

function normalise(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[’‘´`]/g, "'")
    .replace(/[‐‑–—−]/g, "-")
    .replace(/(?<![\w.,])\d{1,3}(?:,\d{3})+(?!\d)/g, (number) => `0${number.replaceAll(",", "")}`)
    .replace(QUANTITY_LIKE_YEAR, (lead) => `${lead}0`)
    .replace(/(?<=\d)\s*(?:%|percent\b|per cent\b)/g, "%")
    .replace(/\b(?:basis points?|bp)\b/g, "bps")
    .replace(/\bno (?:higher|more|greater) than\b/g, "at most")
    .replace(/\bno (?:lower|less|fewer) than\b/g, "at least")
    .replace(/([$€£<>≤≥])\s+(?=-?\d)/g, "$1")
    .replace(/\s+/g, " ")
    .trim();
}

/** Removes punctuation and plurals: "2 cuts" and "1 cut" differ only in their numbers. */
function simplify(text: string): string {
  return text
    .replace(NUMBER, "#")
    .replace(/\b([a-z]{2,}[^s\W\d])s\b/g, "$1")
    .replace(/[?!.,;:"'()[\]]|(?<=\s)-(?=\s)/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/**
 * Removes dates and times from a text. `kinds` describes their kinds in words, so that only questions with equal kinds
 * are compared.
 */
function extractDates(text: string, closeAt: number | null): { rest: string; slots: QuestionSlot[]; kinds: string } {
  const { periods, dates, times, untimed, rest } = findDates(text, closeAt);
  const open = periods.filter(isOpen);
  const isDeadline =
    open.length === 1 &&
    dates.filter(({ preposition, isName }) => BY.has(preposition) && !isName).length === 1 &&
    !STATE.test(untimed) &&
    (isNear(open[0], closeAt) || !dates.some(({ isYearInferred }) => isYearInferred));
  const hasTime = times.length === 1 && open.length === 1;
  const slots = periods.flatMap((period): QuestionSlot[] => {
    const minutes = isOpen(period) && hasTime ? (times[0]?.minutes ?? 0) : 0;
    const last: QuestionSlot = {
      value: period.to * DAY_MINUTES + minutes,
      wider: isDeadline && isOpen(period) ? "larger" : null,
    };
    return period.from === null ? [last] : [last, { value: period.from, wider: null }];
  });
  if (!hasTime) for (const { minutes } of times) slots.push({ value: minutes, wider: null });
  const kinds = [
    ...periods.map((period) => (isOpen(period) ? "until" : period.kind)),
    ...times.map(({ hasZone }) => `time${hasZone ? " utc" : ""}`),
    ...(dates.some(isVague) ? ["vague"] : []),
  ];
  return { rest, slots, kinds: kinds.join(", ") };
}

/** "By June" can mean before June or by the end of June. */
const isVague = ({ preposition, unit, isEndOf }: TextDate): boolean =>
  preposition === "by" && unit !== "day" && !isEndOf;

const isOpen = ({ from, kind }: Period): boolean => kind === "deadline" && from === null;

function isNear(period: Period | undefined, closeAt: number | null): boolean {
  if (period === undefined || closeAt === null) return false;
  const days = closeAt / DAY_MS - period.to;
  return days > -DAYS_AFTER_CLOSE_MAX && days < DAYS_BEFORE_CLOSE_MAX;
}

function numberOf([text, integer = "", fraction = "", suffix = ""]: RegExpMatchArray): number {
  return (text.startsWith("-") ? -1 : 1) * Number(`${integer}${fraction}`) * suffixScale(suffix);
}

function widerOf(before: string, after: string, rules: string | null): QuestionSlot["wider"] {
  const touch = TOUCHES.exec(before);
  const direction = touch === null ? null : (touch[1] ?? directionOf(rules));
  const isAbove = ABOVE.test(before) || OR_ABOVE.test(after) || direction === "high";
  const isBelow = BELOW.test(before) || OR_BELOW.test(after) || direction === "low";
  if (isAbove === isBelow) return null;
  return isAbove ? "smaller" : "larger";
}

/** Returns the only direction that the rules name; null if they name none or both. */
function directionOf(rules: string | null): "high" | "low" | null {
  const text = rules?.toLowerCase() ?? "";
  const [isUp, isDown] = [RULES_UP.test(text), RULES_DOWN.test(text)];
  if (isUp === isDown) return null;
  return isUp ? "high" : "low";
}
