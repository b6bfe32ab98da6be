/** Which markets of an event form a ladder: the same question with one other threshold or deadline. */

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const MONTH =
  "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?";
const DATE = `${MONTH} (\\d{1,2})(?:st|nd|rd|th)?,? (\\d{4})(?!\\d)(?:,? (?:at )?(\\d{1,2}):(\\d{2})(?!\\d))?`;
const DAY = `${MONTH} \\d{1,2}(?:st|nd|rd|th)?(?!\\d)`;
const TIME = "\\d{1,2}:\\d{2}(?!\\d)";
const NUMBER =
  "(?<![\\w.,:-])-?(\\d{1,3}(?:,\\d{3})+|\\d+)(\\.\\d+)?(?![\\w.,:-]*\\d)(k|m|b|bn| thousand| million| billion)?(?!\\w)";
const SLOTS = new RegExp(`${DATE}|${DAY}|${TIME}|${NUMBER}`, "gi");
const MULTIPLIERS: Readonly<Record<string, number>> = {
  ...{ k: 1e3, thousand: 1e3, m: 1e6, million: 1e6, b: 1e9, bn: 1e9, billion: 1e9 },
};
/** Words that may reverse the order: "fail to reach at least 3" is narrower than "fail to reach at least 4". */
const REVERSAL =
  /\b(?:not|no|never|neither|nor|without|unless|except|until|till?|fail(?:s|ed|ing|ure)?|avoid(?:s|ed|ing)?|miss(?:es|ed|ing)?|stay(?:s|ed|ing)?|remain(?:s|ed|ing)?|keep(?:s|ing)?|survive(?:s|d)?)\b|n['’]t\b/i;
const ABOVE = /(?:\b(?:above|over|exceeds?|(?:more|greater|higher) than|at least)|[>≥]=?)\s*[$€£]?$/i;
const BELOW = /(?:\b(?:below|under|(?:less|fewer|lower) than|at most)|[<≤]=?)\s*[$€£]?$/i;
const OR_ABOVE = /^\s?(?:[%°]|percent\b)?\s?[FC]?\s(?:or|and)\s(?:above|more|higher|greater|over)\b/i;
const OR_BELOW = /^\s?(?:[%°]|percent\b)?\s?[FC]?\s(?:or|and)\s(?:below|less|lower|fewer|under)\b/i;
const BY = /\b(?:by|before|prior to)\s$/i;
/** Longer texts are not parsed. */
const TEXT_LENGTH_MAX = 1_000;

/** A number or a date in a question. */
interface Slot {
  readonly value: number;
  /** Whether a smaller or a larger value makes the question wider; null if the text does not say. */
  readonly wider: "smaller" | "larger" | null;
}

/** A question, taken apart into its numbers and dates and the text around them. */
export interface ParsedQuestion {
  readonly skeleton: string;
  readonly slots: readonly Slot[];
}

/** Returns the text with its numbers and dates replaced by their kind. */
export function skeletonOf(text: string): string {
  return text.replace(SLOTS, (match, month?: string) => (month === undefined ? "#" : `@${match.includes(":")}`)).trim();
}

/** Parses a question. Returns null if it contains no number, or a word that may reverse the order. */
export function parseQuestion(text: string): ParsedQuestion | null {
  if (text.length > TEXT_LENGTH_MAX || REVERSAL.test(text)) return null;
  const slots: Slot[] = [];
  for (const match of text.matchAll(SLOTS)) {
    const before = text.slice(0, match.index);
    const after = text.slice(match.index + match[0].length);
    const [whole, month, day, year, hour, minute, integer, fraction, suffix] = [
      ...[match[0], match[1], match[2], match[3], match[4], match[5]],
      ...[match[7], match[8], match[9]],
    ];
    if (month !== undefined && day !== undefined && year !== undefined) {
      const monthIndex = MONTHS.indexOf(month.slice(0, 3).toLowerCase());
      const value = Date.UTC(Number(year), monthIndex, Number(day), Number(hour ?? 0), Number(minute ?? 0));
      slots.push({ value, wider: BY.test(before) ? "larger" : null });
    } else if (integer !== undefined) {
      const sign = whole?.startsWith("-") === true ? -1 : 1;
      const multiplier = MULTIPLIERS[suffix?.trim().toLowerCase() ?? ""] ?? 1;
      const value = sign * Number(`${integer.replaceAll(",", "")}${fraction ?? ""}`) * multiplier;
      slots.push({ value, wider: widerOf(before, after) });
    } else slots.push({ value: hashOf(match[0]), wider: null });
  }
  return slots.length === 0 ? null : { skeleton: skeletonOf(text), slots };
}

function widerOf(before: string, after: string): Slot["wider"] {
  const isAbove = ABOVE.test(before) || OR_ABOVE.test(after);
  const isBelow = BELOW.test(before) || OR_BELOW.test(after);
  if (isAbove === isBelow) return null;
  return isAbove ? "smaller" : "larger";
}

/** A number that differs for different texts, to compare days without a year and times, which have no order here. */
function hashOf(text: string): number {
  let hash = 0;
  for (const character of text.toLowerCase()) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 2 ** 40;
  return hash;
}

/**
 * Groups questions into ladders: the same text except for one number after or before the same comparison, or except for
 * the date after the same "by" or "before". Whatever is doubtful belongs to no ladder.
 *
 * @param questions  null for a question that could not be parsed
 * @returns  indexes of the questions of each ladder, from the widest question to the narrowest
 */
export function findLadders(questions: readonly (ParsedQuestion | null)[]): number[][] {
  const groups = new Map<string, { readonly index: number; readonly slots: readonly Slot[] }[]>();
  for (const [index, question] of questions.entries()) {
    if (question === null) continue;
    const group = groups.get(question.skeleton);
    if (group === undefined) groups.set(question.skeleton, [{ index, slots: question.slots }]);
    else group.push({ index, slots: question.slots });
  }
  return [...groups.values()].flatMap((group) => {
    const first = group[0]?.slots ?? [];
    if (group.length < 2 || group.some(({ slots }) => slots.length !== first.length)) return [];
    const varying = first.flatMap(({ value }, slot) =>
      group.some(({ slots }) => slots[slot]?.value !== value) ? [slot] : [],
    );
    const [position] = varying;
    if (varying.length !== 1 || position === undefined) return [];
    const rungs = group.map(({ index, slots }) => ({ index, ...(slots[position] ?? { value: 0, wider: null }) }));
    const wider = rungs[0]?.wider ?? null;
    if (wider === null || rungs.some((rung) => rung.wider !== wider)) return [];
    if (new Set(rungs.map(({ value }) => value)).size < rungs.length) return [];
    const sign = wider === "smaller" ? 1 : -1;
    return [rungs.sort((a, b) => sign * (a.value - b.value)).map(({ index }) => index)];
  });
}
