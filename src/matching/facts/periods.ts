/** Dates, deadlines and editions that a title names. */

const DAY_MS = 86_400_000;
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MONTH =
  "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
const DAY = "([0-3]?[0-9])(?:st|nd|rd|th)?";
const YEAR = "(20[0-9]{2})";

/** A range of days, as days since 1970-01-01 in UTC. */
export interface Period {
  /** First day; null if only the last day is named ("by June 30"). */
  readonly from: number | null;
  readonly to: number;
  /** Whether the title names a deadline or range for the answer, not the edition of a contest ("Eurovision 2026"). */
  readonly kind: "deadline" | "edition";
}

export interface PeriodText {
  readonly periods: readonly Period[];
  /** The text without the dates. */
  readonly rest: string;
}

const dayOf = (year: number, month: number, day: number): number => Math.floor(Date.UTC(year, month, day) / DAY_MS);
const lastDayOf = (year: number, month: number): number => dayOf(year, month + 1, 0);
/** Returns null for a date that does not exist, such as 31 February. */
const validDayOf = (year: number, month: number, day: number): number | null =>
  month < 0 || month > 11 || day < 1 || dayOf(year, month, day) > lastDayOf(year, month)
    ? null
    : dayOf(year, month, day);
const yearOf = (day: number): number => new Date(day * DAY_MS).getUTCFullYear();
const monthOf = (name: string): number => MONTHS.indexOf(name.slice(0, 3));

const ISO_DAY_PATTERN = /(?:\b(?:on|by|before) )?\b(20[0-9]{2})-([01][0-9])-([0-3][0-9])\b/g;
const DAY_RANGE_PATTERN = new RegExp(
  `\\b${MONTH}\\.? ${DAY} ?(?:-|to) ?(?:${MONTH} )?${DAY}(?:,? ${YEAR})?(?![0-9])`,
  "g",
);
const MONTH_NAMES_PATTERN = new RegExp(MONTH, "g");
const LEAD = "(?:\\b(?:on or before|on|by|before|until|till|through|as of|after) )?";
const MONTH_DAY_PATTERN = new RegExp(`${LEAD}\\b${MONTH}\\.? ${DAY}(?![0-9])(?:,? ${YEAR})?`, "g");
const DAY_MONTH_PATTERN = new RegExp(`${LEAD}\\b${DAY} (?:of )?${MONTH}\\b(?:,? ${YEAR})?`, "g");
const WHOLE_MONTH_PATTERN = new RegExp(
  `(?:\\b(?:by|before) )?(?:\\b(?:the )?end of |\\bin |\\bduring |\\bfor )?(?<!\\b[0-3]?[0-9](?:st|nd|rd|th)? (?:of )?)\\b${MONTH}\\b(?! [0-9]{1,2}\\b)(?:,? ${YEAR})?`,
  "g",
);
const QUARTER_PATTERN = new RegExp(
  `(?:\\b(?:by|before) )?(?:\\b(?:the )?end of )?\\bq([1-4])\\b(?: (?:of )?${YEAR})?`,
  "g",
);
const SEASON_PATTERN = /\b(20[0-9]{2}) ?[-/] ?(20)?([0-9]{2})\b(?!-)/g;
const BEFORE_YEAR_PATTERN =
  /\b(?:by|before|prior to) (?:the )?(?:(?:end|start) of (?:the )?)?(?:year )?(20[0-9]{2})\b/g;
const IN_YEAR_PATTERN =
  /\b(?:(?:at |by |the ){0,3}end of (?:the )?(?:year )?|in |during |throughout |within |calendar year )(20[0-9]{2})\b/g;
const THIS_YEAR_PATTERN = /\b(?:this year|(?:by |the ){0,2}(?:end of (?:the )?|year[- ])(?:year|end))\b/g;
const BARE_YEAR_PATTERN = /\b(20[0-9]{2})\b/g;
const OSCARS_PATTERN = /\b([0-9]{2})(?:st|nd|rd|th)(?= oscar)/g;
/** The first Oscars were in 1929. */
const OSCARS_YEAR_0 = 1928;

/** A text without any of these has no date. */
const DATE_HINT_PATTERN = new RegExp(`[0-9]|${MONTH}|\\byear\\b`);

const yearIn = (word: string): number | null => {
  const year = /20[0-9]{2}/.exec(word)?.[0];
  return year === undefined ? null : Number(year);
};
const isBefore = (word: string): boolean => /\bbefore\b/.test(word);
const isEndOf = (word: string): boolean => /\bend of\b/.test(word);
const isOpen = (word: string): boolean => /\b(?:by|before|until|till|end of)\b/.test(word);
const deadline = (from: number | null, to: number): Period => ({ from, to, kind: "deadline" });
const onOrUntil = (word: string, day: number): Period =>
  deadline(isOpen(word) ? null : day, isBefore(word) ? day - 1 : day);
const wholeYear = (year: number, kind: Period["kind"]): Period => ({
  from: dayOf(year, 0, 1),
  to: lastDayOf(year, 11),
  kind,
});

/** Takes the dates out of a text, one pattern after the other. */
class PeriodReader {
  readonly periods: Period[] = [];
  rest: string;
  readonly #nearDay: number | null;

  constructor(text: string, near: number | null) {
    this.rest = ` ${text} `;
    this.#nearDay = near === null ? null : Math.floor(near / DAY_MS);
  }

  get nearYear(): number | null {
    return this.#nearDay === null ? null : yearOf(this.#nearDay);
  }

  /** Replaces each match with a space if `read` returns a period. */
  take(pattern: RegExp, read: (groups: readonly string[], word: string) => Period | null): void {
    this.rest = this.rest.replace(pattern, (word: string, ...args: unknown[]) => {
      const period = read(
        args.filter((arg): arg is string => typeof arg === "string"),
        word,
      );
      if (period === null) return word;
      this.periods.push(period);
      return " ";
    });
  }

  /** Returns the day in the given year, or in the year that puts it nearest to `near`; null if there is no such day. */
  dayIn(year: number | null, dayOfYear: (year: number) => number | null): number | null {
    if (year !== null) return dayOfYear(year);
    const [near, nearYear] = [this.#nearDay, this.nearYear];
    if (near === null || nearYear === null) return null;
    let nearest: number | null = null;
    for (const day of [nearYear - 1, nearYear, nearYear + 1].map(dayOfYear))
      if (day !== null && (nearest === null || Math.abs(day - near) < Math.abs(nearest - near))) nearest = day;
    return nearest;
  }
}

/**
 * Finds the dates of a normalised text. A date without a year belongs to the year that puts it nearest to `near`. A date
 * without a year if `near` is null, and a day that does not exist, give no period.
 *
 * @param near  when the market closes, Unix milliseconds
 */
export function findPeriods(text: string, near: number | null): PeriodText {
  if (!DATE_HINT_PATTERN.test(text)) return { periods: [], rest: text };
  const reader = new PeriodReader(text, near);
  takeDays(reader);
  takeMonths(reader);
  takeYears(reader);
  return { periods: reader.periods, rest: reader.rest.replace(/\s+/g, " ").trim() };
}

/** "2026-06-26", "May 11-17", "by June 30, 2026", "30 June 2026". */
function takeDays(reader: PeriodReader): void {
  reader.take(ISO_DAY_PATTERN, ([year, month, date], word) => {
    const day = validDayOf(Number(year), Number(month) - 1, Number(date));
    return day === null ? null : onOrUntil(word, day);
  });
  reader.take(DAY_RANGE_PATTERN, (_, word) => {
    const [first = "", second = first] = word.match(MONTH_NAMES_PATTERN) ?? [];
    const [firstDay, secondDay] = word.replace(/20[0-9]{2}/, "").match(/[0-9]+/g) ?? [];
    const end = reader.dayIn(yearIn(word), (year) => validDayOf(year, monthOf(second), Number(secondDay)));
    if (end === null) return null;
    // "December 28 - January 3" starts in the year before.
    const startYear = yearOf(end) - (monthOf(first) > monthOf(second) ? 1 : 0);
    const start = validDayOf(startYear, monthOf(first), Number(firstDay));
    return start === null || start > end ? null : deadline(start, end);
  });
  const monthDay = (month: string | undefined, date: string | undefined, word: string): Period | null => {
    const day = reader.dayIn(yearIn(word), (year) => validDayOf(year, monthOf(month ?? ""), Number(date)));
    return day === null ? null : onOrUntil(word, day);
  };
  reader.take(MONTH_DAY_PATTERN, ([month, date], word) => monthDay(month, date, word));
  reader.take(DAY_MONTH_PATTERN, ([date, month], word) => monthDay(month, date, word));
}

/** "in May 2026", "end of June", "before Q3". */
function takeMonths(reader: PeriodReader): void {
  reader.take(WHOLE_MONTH_PATTERN, ([name], word) => {
    if (name === undefined || (yearIn(word) === null && isOrdinaryWord(name, word, reader.rest))) return null;
    const month = monthOf(name);
    const end = reader.dayIn(yearIn(word), (year) => lastDayOf(year, month));
    if (end === null) return null;
    const first = dayOf(yearOf(end), month, 1);
    // "By May" means before May.
    if (/\b(?:by|before)\b/.test(word) && !isEndOf(word)) return deadline(null, first - 1);
    return deadline(isOpen(word) ? null : first, end);
  });
  reader.take(QUARTER_PATTERN, ([quarter], word) => {
    const month = Number(quarter) * 3 - 1;
    const end = reader.dayIn(yearIn(word), (year) => lastDayOf(year, month));
    if (end === null) return null;
    const first = dayOf(yearOf(end), month - 2, 1);
    if (isBefore(word) && !isEndOf(word)) return deadline(null, first - 1);
    return deadline(isOpen(word) ? null : first, end);
  });
}

/** Whether the name of a month is another word: "it may rain", "the Mar-a-Lago". */
function isOrdinaryWord(name: string, word: string, text: string): boolean {
  if (name === "mar") return true;
  const isMonthOfMay = /\b(?:in|of|by|before|during|for) may\b/.test(word) || /^ ?may (?!be\b|not\b)/.test(text);
  return name === "may" && !isMonthOfMay;
}

/** "2025-26", "before 2027", "by the end of 2026", "in 2026", "this year", "Eurovision 2026", "98th Oscars". */
function takeYears(reader: PeriodReader): void {
  reader.take(SEASON_PATTERN, ([first], word) => {
    const last = 2000 + Number(word.trim().slice(-2));
    return last - Number(first) === 1 ? wholeYear(last, "edition") : null;
  });
  reader.take(BEFORE_YEAR_PATTERN, ([year], word) =>
    deadline(null, lastDayOf(Number(year) - (isEndOf(word) ? 0 : 1), 11)),
  );
  reader.take(IN_YEAR_PATTERN, ([year], word) => {
    const { from, to } = wholeYear(Number(year), "deadline");
    return deadline(isEndOf(word) ? null : from, to);
  });
  const { nearYear } = reader;
  if (nearYear !== null)
    reader.take(THIS_YEAR_PATTERN, (_, word) => {
      const { from, to } = wholeYear(nearYear, "deadline");
      return deadline(/this year/.test(word) ? from : null, to);
    });
  reader.take(BARE_YEAR_PATTERN, ([year]) => wholeYear(Number(year), "edition"));
  reader.take(OSCARS_PATTERN, ([ceremony]) => wholeYear(OSCARS_YEAR_0 + Number(ceremony), "edition"));
}

export type PeriodRelation = "same" | "conflict" | "unknown";

export interface PeriodComparison {
  readonly relation: PeriodRelation;
  /** Last day of A minus last day of B, if both name a deadline; null otherwise. */
  readonly daysApart: number | null;
  /** Whether both are deadlines without a first day, so that the earlier one implies the later one. */
  readonly areOpenStarts: boolean;
}

/** Days that two deadlines may differ: "by September 1" and "before September 1" often mean the same. */
const DEADLINE_TOLERANCE_DAYS = 1;
/** A longer range has usually begun when both markets are open: "in 2026" is "by the end of 2026". */
const OPEN_START_DAYS_MIN = 100;

/** Compares the last deadlines and the editions of two titles. */
export function comparePeriods(a: readonly Period[], b: readonly Period[]): PeriodComparison {
  const deadlineA = latest(a, "deadline");
  const deadlineB = latest(b, "deadline");
  if (deadlineA !== null && deadlineB !== null) {
    const daysApart = deadlineA.to - deadlineB.to;
    const areOpenStarts = deadlineA.from === null && deadlineB.from === null;
    // "On May 14" and "on May 15" are two questions, as are "May 11-17" and "May 12-18".
    const areRanges = deadlineA.from !== null && deadlineB.from !== null;
    const isSame = areRanges
      ? daysApart === 0 && deadlineA.from === deadlineB.from
      : Math.abs(daysApart) <= DEADLINE_TOLERANCE_DAYS && !isShortRange(deadlineA) && !isShortRange(deadlineB);
    return { relation: isSame ? "same" : "conflict", daysApart, areOpenStarts };
  }
  const editionA = latest(a, "edition");
  const editionB = latest(b, "edition");
  if (editionA !== null && editionB !== null)
    return { relation: editionA.to === editionB.to ? "same" : "conflict", daysApart: null, areOpenStarts: false };
  const [edition, deadline] = editionA !== null ? [editionA, deadlineB] : [editionB, deadlineA];
  if (edition === null || deadline === null) return { relation: "unknown", daysApart: null, areOpenStarts: false };
  return {
    relation: yearOf(edition.to) === yearOf(deadline.to) ? "same" : "conflict",
    daysApart: null,
    areOpenStarts: false,
  };
}

/** Whether the first day matters: "in May" is not "by May 31". */
const isShortRange = ({ from, to }: Period): boolean => from !== null && to - from < OPEN_START_DAYS_MIN;

export function latest(periods: readonly Period[], kind: Period["kind"]): Period | null {
  let best: Period | null = null;
  for (const period of periods) if (period.kind === kind && (best === null || period.to > best.to)) best = period;
  return best;
}
