/** Checks whether a market answers a question in free text. */
import { MONTH_NAMES } from "../../text/months.ts";
import { nameSimilarity } from "../compare-words.ts";
import { comparePeriods, findDates, latestPeriod } from "../facts/periods.ts";
import { isNumericallyEqual, type Quantity } from "../facts/quantities.ts";
import { createFingerprint, type Fingerprint } from "../fingerprint.ts";
import type { MatchableMarket } from "../model.ts";
import { WORD_WEIGHTS } from "../model-data.ts";
import { normaliseText, stemOf, stemsOf } from "../text/words.ts";
import {
  isSameNumber,
  isSameUnit,
  type NumberReading,
  parseFacts,
  replaceRelativeDates,
  type TextFacts,
} from "./facts.ts";
import { OPTIONAL_STEMS, QUESTION_SYNONYMS } from "./lexicon.ts";

/** The texts and times of a market that a question is compared with. */
export type AnsweringMarket = Pick<
  MatchableMarket,
  "title" | "outcomeLabel" | "eventTitle" | "closeAt" | "expectedResolutionAt"
>;

/** A question in free text. Relative dates such as "next year" have two readings: literal, and as an absolute date. */
export interface Question {
  readonly readings: readonly [QuestionReading, ...QuestionReading[]];
  /** Words for a search in an index of words, with the common spellings of months and numbers. */
  readonly searchText: string;
}

interface QuestionReading {
  readonly facts: TextFacts;
  /** Stems of the content words, without numbers and months. */
  readonly stems: readonly string[];
  /** Stems of capitalised names in the question. The market must contain them exactly. */
  readonly names: ReadonlySet<string>;
  /** The side that the question is about ("Will Norway win": norway). */
  readonly subject: readonly string[];
}

export interface QuestionFit {
  /** Whether the market has all words, months, years, numbers, directions and negations of the question. */
  readonly fits: boolean;
  /**
   * How well the market answers the question, in [0, 1]: 17 m / (16 n + k). The question has n units (words and
   * numbers), m of them are in the market, and the market has k units. The score is multiplied by 0.94 if the market
   * has additional words, by 0.88 if it has additional conditions, and by 0.5 if it does not fit.
   */
  readonly score: number;
}

const OTHER_WORDS_SHARE = 0.94;
const EXTRA_SHARE = 0.88;
const MISFIT_SHARE = 0.5;
/** Weight of recall (the question's units) relative to precision (the market's units): beta² of the F-measure. */
const RECALL_WEIGHT = 16;
/** Below this similarity, two subjects count as different. */
const SUBJECT_SIMILARITY_MIN = 0.35;
/**
 * Deadlines that differ by more than this number of days conflict, even if they name the same month: "before March" and
 * "in March".
 */
const DEADLINE_DAYS_MAX = 27;
/** Matches the title of a contest, whose market asks for the winner even without the word "win". */
const FIXTURE_PATTERN = /\bvs?\.? |\bversus\b/;
const BASE_LENGTH_MIN = 4;
const ENDINGS = /(?:ations?|at(?:ed?|ing|or)|ions?|ing|ed|e[re]s?|ors?|ments?|al|ly|es?|s|at)$/;

/**
 * Parses a question in free text.
 *
 * @param now  Unix milliseconds; "next month" refers to it
 * @returns  null if the text has no content words
 */
export function parseQuestion(text: string, now: number): Question | null {
  const dated = replaceRelativeDates(text, now);
  const literal = parseText(text, now);
  if (literal.stems.length + countFacts(literal.facts) === 0) return null;
  const readings: readonly QuestionReading[] = dated === text ? [] : [parseText(dated, now)];
  const all: Question["readings"] = [literal, ...readings];
  const words = [...all.flatMap(({ facts }) => [...searchWords(facts), facts.text]), text].join(" ").split(/\s+/);
  return { readings: all, searchText: [...new Set(words)].join(" ") };
}

function parseText(text: string, now: number): QuestionReading {
  const facts = parseFacts(text, now);
  const stems = contentStems(facts.rest);
  return { facts, stems, names: namesIn(text, stems), subject: subjectOf(text, null, null, now) };
}

/** Compares a market with a question. Of several readings of the question, the best fit is returned. */
export function fitQuestion({ readings: [first, ...others] }: Question, market: AnsweringMarket): QuestionFit {
  let best = fitReading(first, market);
  for (const reading of others) {
    const fit = fitReading(reading, market);
    if (fit.score > best.score) best = fit;
  }
  return best;
}

function fitReading(question: QuestionReading, market: AnsweringMarket): QuestionFit {
  const endAt = market.expectedResolutionAt ?? market.closeAt;
  const ownText = [market.title, market.outcomeLabel].filter((part) => part !== null).join(": ");
  const own = parseFacts(ownText, endAt);
  const all = market.eventTitle === null ? own : parseFacts(`${ownText} ; ${market.eventTitle}`, endAt);
  const ownStems = contentStems(own.rest);
  const words = wordsOf(FIXTURE_PATTERN.test(all.text) ? `${all.rest} win` : all.rest);
  const isAsked = (stem: string) => question.stems.some((asked) => isSameWord(asked, stem));
  const matchedStems = question.stems.filter((asked) =>
    question.names.has(asked) ? words.has(asked) : [...words].some((word) => isSameWord(asked, word)),
  );
  const deadline = compareDeadlines(question.facts.text, all.text, endAt);
  const matchedFacts = countMatchedFacts(question, all, { ...market, isSameDeadline: deadline === "same" });
  const asked = question.stems.length + countFacts(question.facts);
  const matched = matchedStems.length + matchedFacts;
  // A threshold is an additional condition, even if its number is in the question.
  const thresholds = own.quantities.filter(
    ({ comparator }) =>
      comparator !== "exactly" && question.facts.quantities.every((other) => other.comparator !== comparator),
  );
  const extra =
    ownStems.filter((stem) => !isAsked(stem)).length + thresholds.length + countUnaskedFacts(own, question.facts);
  const fits =
    matched === asked &&
    own.isNegated === question.facts.isNegated &&
    all.isAfter === question.facts.isAfter &&
    fitsQuantities(question.facts.quantities, all.quantities) &&
    deadline !== "conflict" &&
    fitsSubject(question.subject, market, endAt);
  const share = ((1 + RECALL_WEIGHT) * matched) / (RECALL_WEIGHT * asked + matched + extra);
  // The title often contains the outcome.
  const isSameText =
    extra === 0 &&
    [own, parseFacts(market.title, endAt)].some(({ signature }) => signature === question.facts.signature);
  const wordsShare = isSameText ? 1 : extra === 0 ? OTHER_WORDS_SHARE : EXTRA_SHARE;
  return { fits, score: share * wordsShare * (fits ? 1 : MISFIT_SHARE) };
}

const countFacts = ({ months, years, numbers, times }: TextFacts): number =>
  months.size + years.size + numbers.length + times.size;

/** Counts the months, years, numbers and times of a market that are not in the question. */
function countUnaskedFacts(own: TextFacts, asked: TextFacts): number {
  const missingFrom = <Fact>(facts: ReadonlySet<Fact>, others: ReadonlySet<Fact>) =>
    [...facts].filter((fact) => !others.has(fact)).length;
  // The outcome often repeats a number of the title, so one asked number stands for all its repetitions.
  const numbers = own.numbers.filter((reading) => !asked.numbers.some((other) => isSameNumber(reading, other)));
  return (
    missingFrom(own.months, asked.months) +
    missingFrom(own.years, asked.years) +
    numbers.length +
    missingFrom(own.times, asked.times)
  );
}

/**
 * Counts the facts of the question that a text has. A month, year or day that the text lacks is taken from the market's
 * closing or expected resolution date. If both have the same deadline in different words, all its dates count.
 */
function countMatchedFacts(
  { facts }: QuestionReading,
  text: TextFacts,
  market: AnsweringMarket & { readonly isSameDeadline: boolean },
): number {
  const ends = [market.closeAt, market.expectedResolutionAt].flatMap((end) =>
    // A market that ends at midnight belongs to the previous day.
    end === null ? [] : [new Date(end), new Date(end - 1)],
  );
  const isEnd = (isUnnamed: boolean, matches: (end: Date) => boolean): boolean =>
    market.isSameDeadline || (isUnnamed && ends.some(matches));
  const months = [...facts.months].filter(
    (month) => text.months.has(month) || isEnd(text.months.size === 0, (end) => end.getUTCMonth() + 1 === month),
  );
  const years = [...facts.years].filter(
    (year) => text.years.has(year) || isEnd(text.years.size === 0, (end) => end.getUTCFullYear() === year),
  );
  const free = [...text.numbers];
  const numbers = facts.numbers.filter((reading) => {
    const index = free.findIndex((other) => isSameNumber(reading, other));
    if (index !== -1) free.splice(index, 1);
    const isDay = facts.months.size > 0 && isDayOfMonth(reading);
    return index !== -1 || (isDay && isEnd(text.months.size === 0, (end) => isSameNumber(reading, dayReading(end))));
  });
  const times = [...facts.times].filter((time) => text.times.has(time));
  return months.length + years.length + numbers.length + times.length;
}

const isDayOfMonth = ([first]: NumberReading): boolean =>
  first !== undefined && first.unit === "x" && Number.isInteger(first.value) && first.value >= 1 && first.value <= 31;
const dayReading = (date: Date) => [{ value: date.getUTCDate(), unit: "x" }];

/** Whether a market has each threshold of the question with the same direction. */
function fitsQuantities(asked: readonly Quantity[], found: readonly Quantity[]): boolean {
  return asked.every((quantity) => {
    if (quantity.comparator === "exactly") return true;
    const same = found.filter(
      (other) =>
        isSameUnit(quantity.unit, other.unit) &&
        (isNumericallyEqual(quantity.low, other.low) ||
          (other.comparator === "between" && isNumericallyEqual(quantity.low, other.high))),
    );
    return (
      same.length === 0 ||
      same.some(
        ({ comparator, high }) =>
          comparator === "exactly" ||
          (comparator === quantity.comparator && (comparator !== "between" || isNumericallyEqual(high, quantity.high))),
      )
    );
  });
}

/** Compares the deadlines of both texts: "before June" and "by May 31" are the same. */
function compareDeadlines(question: string, market: string, endAt: number | null): "same" | "conflict" | "unknown" {
  const asked = findDates(question, endAt).periods;
  const found = findDates(market, endAt).periods;
  if (latestPeriod(asked, "deadline") === null || latestPeriod(found, "deadline") === null) return "unknown";
  const { relation, daysApart } = comparePeriods(asked, found);
  // With several dates, all dates would have to be compared.
  if (relation === "same") return asked.length === 1 && found.length === 1 ? "same" : "unknown";
  return daysApart !== null && Math.abs(daysApart) > DEADLINE_DAYS_MAX ? "conflict" : "unknown";
}

/** Whether question and market can have the same subject: "Lakers beat Celtics" is not "Celtics beat Lakers". */
function fitsSubject(
  asked: readonly string[],
  { title, outcomeLabel, eventTitle }: AnsweringMarket,
  endAt: number | null,
): boolean {
  if (asked.length === 0) return true;
  // The outcome of a contest is a side. Other outcomes ("No change") are not subjects.
  const isContest = [title, eventTitle].some((text) => text !== null && FIXTURE_PATTERN.test(normaliseText(text)));
  const found = subjectOf(title, isContest ? outcomeLabel : null, eventTitle, endAt);
  return found.length === 0 || nameSimilarity(asked, found, WORD_WEIGHTS) >= SUBJECT_SIMILARITY_MIN;
}

function subjectOf(
  title: string,
  outcomeLabel: string | null,
  eventTitle: string | null,
  endAt: number | null,
): readonly string[] {
  const read = (text: string): Fingerprint =>
    createFingerprint({ title: text, outcomeLabel, eventTitle, closeAt: endAt, expectedResolutionAt: null });
  const { subject } = read(title);
  return (subject.stems.length > 0 ? subject : read(`Will ${title}`).subject).stems;
}

/** Stems of the content words of a text, without repetitions. */
function contentStems(text: string): string[] {
  const stems = stemsOf(text).map((stem) => QUESTION_SYNONYMS.get(stem) ?? stem);
  return [...new Set(stems)].filter((stem) => !OPTIONAL_STEMS.has(stem) && !/^[0-9]/.test(stem));
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(stemsOf(text).map((stem) => QUESTION_SYNONYMS.get(stem) ?? stem));
}

/** Stems of the capitalised words after the first word; none if most words are capitalised, as in a headline. */
function namesIn(text: string, stems: readonly string[]): ReadonlySet<string> {
  const words = text.match(/[\p{L}'’]+/gu) ?? [];
  const capitals = words.slice(1).filter((word) => /^\p{Lu}/u.test(word));
  if (capitals.length * 2 > words.length) return new Set();
  const names = new Set(capitals.map((word) => stemOf(normaliseText(word))));
  return new Set(stems.filter((stem) => names.has(stem)));
}

/** Whether two stems are forms of one word: "nominate" and "nomination". */
const isSameWord = (a: string, b: string): boolean => a === b || baseOf(a) === baseOf(b);

function baseOf(stem: string): string {
  let base = stem;
  for (;;) {
    const shorter = base.replace(ENDINGS, "");
    if (shorter === base || shorter.length < BASE_LENGTH_MIN) return base;
    base = shorter;
  }
}

/** Common spellings of the months, years and numbers, for a search in an index of words. */
function searchWords({ months, years, numbers }: TextFacts): string[] {
  return [
    ...[...months].flatMap((month) => [MONTH_NAMES[month - 1] ?? "", (MONTH_NAMES[month - 1] ?? "").slice(0, 3)]),
    ...[...years].map(String),
    ...numbers.flatMap((readings) => readings.map(({ value }) => String(value))),
  ];
}
