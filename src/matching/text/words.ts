/** Normalises titles, so that the same words of different venues compare equal. */
import { PHRASES, STOP_WORDS, SYNONYMS } from "./lexicon.ts";
import { replaceNames } from "./replace-names.ts";

/** Maximum length of a title in comparisons, in characters. */
export const TEXT_LENGTH_MAX = 400;

const ROMAN_NUMERALS: ReadonlyMap<string, string> = new Map(
  ["ii", "iii", "iv", "vi", "vii", "viii", "ix"].map((roman, index) => [roman, String([2, 3, 4, 6, 7, 8, 9][index])]),
);

/** Returns the text without accents and tags such as "[ACX 2026]", with at most `TEXT_LENGTH_MAX` characters. */
export const foldText = (text: string): string =>
  text
    .slice(0, TEXT_LENGTH_MAX)
    .replace(/[·•]/g, " ")
    .normalize("NFKD")
    // Normalisation can expand one character to eighteen.
    .slice(0, TEXT_LENGTH_MAX)
    .replace(/\p{M}/gu, "")
    .replace(/[’‘´`]/g, "'")
    .replace(/[–—−]/g, "-")
    .replace(/ß/g, "ss")
    .replace(/[øØ]/g, "o")
    .replace(/^\s*\[[^\]]{1,24}\]\s*/, "");

/**
 * Returns the text in lower case, without accents and tags such as "[ACX 2026]", with one word per name
 * (`replaceNames`), one phrase per thing (`PHRASES`) and at most `TEXT_LENGTH_MAX` characters.
 */
export function normaliseText(text: string): string {
  let normalised = replaceNames(foldText(text))
    .toLowerCase()
    .replace(/&/g, " and ")
    .replace(/(?<=[0-9]),(?=[0-9]{3}(?![0-9]))/g, "")
    .replace(/\s+/g, " ");
  for (const [pattern, replacement] of PHRASES) normalised = normalised.replace(pattern, replacement);
  return normalised.replace(/\s+/g, " ").slice(0, TEXT_LENGTH_MAX).trim();
}

/** Returns the word without common endings; a word and its plural have the same stem. */
export function stemOf(word: string): string {
  const stem = word.length > 6 && word.endsWith("ing") ? word.slice(0, -3) : stripEnding(word);
  const synonym = SYNONYMS.get(word) ?? SYNONYMS.get(stem);
  return synonym === undefined ? stem : stripEnding(synonym);
}

function stripEnding(word: string): string {
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (word.length > 5 && word.endsWith("ed")) return word.slice(0, -2);
  if (word.length > 4 && word.endsWith("e")) return word.slice(0, -1);
  if (word.length > 3 && word.endsWith("s") && !/(?:ss|us|is)$/.test(word)) return stripEnding(word.slice(0, -1));
  return word;
}

const ORDINALS: ReadonlyMap<string, string> = new Map(
  "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth"
    .split(" ")
    .map((word, index) => [word, `${index + 1}th`]),
);

/** Returns the ordinal of a word as "6th" ("sixth", "6th", "#6"), or null. */
export function ordinalOf(word: string): string | null {
  const digits = /^(?:#([0-9]{1,3})|([0-9]{1,3})(?:st|nd|rd|th))$/.exec(word);
  if (digits !== null) return `${Number(digits[1] ?? digits[2])}th`;
  return ORDINALS.get(word) ?? null;
}

const WORD_PATTERN = /#?[0-9]+(?:st|nd|rd|th)\b|#[0-9]+\b|[0-9]+(?:\.[0-9]+)?|\p{L}+/gu;

/** Returns the stems of a normalised text in order, without stop words. "GTA6" and "GTA VI" both contain gta, 6. */
export function stemsOf(normalised: string): string[] {
  const words =
    normalised
      .replace(/'s\b|\(?\bbo[135]\b\)?/g, "")
      .replace(/'/g, "")
      .match(WORD_PATTERN) ?? [];
  const stems: string[] = [];
  for (const word of words) {
    if (STOP_WORDS.has(word)) continue;
    stems.push(ordinalOf(word) ?? ROMAN_NUMERALS.get(word) ?? stemOf(word));
  }
  return stems;
}

/** Similarity of two stems in [0, 1]: 1 if equal, 0.8 for names that differ in their ending or by one letter. */
export function stemSimilarity(a: string, b: string): number {
  if (a === b) return 1;
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short.length < 4 || /^[0-9]/.test(short)) return 0;
  if (long.startsWith(short) && long.length - short.length <= 4) return 0.8;
  if (short.length < 5) return 0;
  let prefix = 0;
  while (prefix < short.length && short[prefix] === long[prefix]) prefix += 1;
  if (prefix >= 5 && prefix / long.length >= 0.6) return 0.8;
  return short.length >= 6 && isOneEditApart(short, long, prefix) ? 0.8 : 0;
}

/** Whether one inserted, deleted or replaced letter turns one word into the other. */
function isOneEditApart(short: string, long: string, prefix: number): boolean {
  if (long.length - short.length > 1) return false;
  const rest = long.slice(prefix + 1);
  return rest === short.slice(long.length === short.length ? prefix + 1 : prefix);
}
