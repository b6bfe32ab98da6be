import type { TextSpan } from "../../../text/text-dates.ts";

/** Maximum length of a venue's text that is read. The longest rules seen so far have 9,000 characters. */
export const TEXT_LENGTH_MAX = 12_000;
/** Maximum length of `rules_summary`. */
export const SUMMARY_LENGTH_MAX = 600;
const SENTENCES_MAX = 200;

/** Control characters, and marks that change the direction or the boundaries of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this removes
const INVISIBLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/**
 * Returns a venue's text as plain text of at most `TEXT_LENGTH_MAX` characters: without tags, link targets and
 * invisible characters, with single spaces, and with one line break between paragraphs.
 */
export function toPlainText(text: string): string {
  return (
    text
      .slice(0, TEXT_LENGTH_MAX)
      .replace(INVISIBLE, "")
      .replace(/<\/?(?:p|br|div|li|ul|ol|h[1-6])\b[^<>]{0,300}>/gi, "\n")
      // Twice, for a tag inside an attribute of another.
      .replace(/<\/?[a-z][^<>]{0,500}>/gi, "")
      .replace(/<\/?[a-z][^<>]{0,500}>/gi, "")
      .replace(/\[([^[\]]{1,200})\]\s?\([^()\s]{1,500}\)/g, "$1")
      .replace(/[^\S\n]+/g, " ")
      .replace(/ ?\n[ \n]*/g, "\n")
      .trim()
  );
}

/** Words after which a full stop does not end a sentence. */
const ABBREVIATIONS = new Set(
  "jan feb mar apr jun jul aug sep sept oct nov dec mr mrs ms dr st vs v no inc ltd co corp jr sr etc e.g i.e approx dept gov sen rep u.s u.k a.m p.m ex".split(
    " ",
  ),
);

function endsWithAbbreviation(text: string, stop: number): boolean {
  const word = /[\p{L}.]{1,12}$/u.exec(text.slice(Math.max(0, stop - 12), stop))?.[0].toLowerCase() ?? "";
  return ABBREVIATIONS.has(word) || /^\p{L}$/u.test(word);
}

/**
 * Splits plain text into sentences, at most 200. A sentence ends at `.`, `!` or `?`, with closing quotes, before a
 * space and a capital letter, digit or quote, and at each line break.
 */
export function splitSentences(text: string): readonly TextSpan[] {
  const spans: TextSpan[] = [];
  let start = 0;
  const push = (end: number) => {
    if (text.slice(start, end).trim() !== "") spans.push({ start, end });
    start = end;
  };
  for (const match of text.matchAll(/\n|[.!?]["”'’)\]]{0,3}(?= ["“‘'(]?[\p{Lu}\p{N}])/gu)) {
    if (spans.length >= SENTENCES_MAX - 1) break;
    if (match[0].startsWith(".") && match[0].length === 1 && endsWithAbbreviation(text, match.index)) continue;
    push(match.index + match[0].length);
  }
  push(text.length);
  return spans;
}

/** Returns the first sentences of plain text, at most `SUMMARY_LENGTH_MAX` characters, or null if there is no text. */
export function summariseRules(text: string): string | null {
  let summary = "";
  for (const { start, end } of splitSentences(text)) {
    const sentence = text.slice(start, end).trim();
    const longer = summary === "" ? sentence : `${summary} ${sentence}`;
    if (longer.length > SUMMARY_LENGTH_MAX) break;
    summary = longer;
  }
  if (summary !== "") return summary;
  if (text === "") return null;
  // If the first sentence is too long, it is cut between words and not inside a surrogate pair.
  const cut = text.slice(0, SUMMARY_LENGTH_MAX - 1).replace(/[\ud800-\udbff]$/, "");
  const lastSpace = cut.lastIndexOf(" ");
  return `${(lastSpace > SUMMARY_LENGTH_MAX / 2 ? cut.slice(0, lastSpace) : cut).trimEnd()}…`;
}
