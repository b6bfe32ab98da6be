/** Replaces each name that titles write in several ways with one word: "Swedish" and "Sweden" become "sweden". */

import { allNames, type NameSpellings } from "../knowledge/names.ts";

interface Spelling {
  /** The spelling's words in lower case. */
  readonly words: readonly string[];
  /** How the table writes an abbreviation, apart from upper case ("BoE"). */
  readonly written: string[];
  replacement: string;
  readonly isUpperCase: boolean;
}

const WORD_PATTERN = /[\p{L}\p{N}]+/gu;
/** What may stand between two words of a name: "U.S.", "Bosnia-Herzegovina", "Cote d'Ivoire", "S&P 500". */
const GAP_PATTERN = /^(?: ?[.'&/-] ?| |\.-)$/;

/** Spellings by their first word, longest first. The first meaning of a spelling counts. */
function indexSpellings(names: readonly NameSpellings[]): ReadonlyMap<string, readonly Spelling[]> {
  const byKey = new Map<string, Spelling>();
  const add = (text: string, replacement: string, isUpperCase: boolean) => {
    const writtenWords = foldAccents(text).match(WORD_PATTERN) ?? [];
    const words = writtenWords.map((word) => word.toLowerCase());
    if (words.length === 0) return;
    const key = `${isUpperCase} ${words.join(" ")}`;
    const wins = TITLE_PATTERN.test(text) ? `${replacement} win` : replacement;
    const known = byKey.get(key);
    if (known === undefined)
      byKey.set(key, { words, written: [writtenWords.join(" ")], replacement: wins, isUpperCase });
    else if (known.replacement === wins) known.written.push(writtenWords.join(" "));
  };
  for (const { word, spellings, abbreviations } of names) {
    for (const spelling of spellings) add(spelling, word, false);
    for (const abbreviation of abbreviations) add(abbreviation, word, true);
  }
  const index = new Map<string, Spelling[]>();
  // A word that is also a spelling of another name means that name, also if a text is replaced twice.
  const finalReplacements = [...byKey.values()].map(
    (spelling) => [spelling, finalWord(spelling.replacement, byKey)] as const,
  );
  for (const [spelling, replacement] of finalReplacements) {
    spelling.replacement = replacement;
    const [first = ""] = spelling.words;
    const list = index.get(first);
    if (list === undefined) index.set(first, [spelling]);
    else list.push(spelling);
  }
  for (const list of index.values()) list.sort((a, b) => b.words.length - a.words.length);
  return index;
}

/** Follows the replacements of a word to the last one. */
function finalWord(word: string, byKey: ReadonlyMap<string, Spelling>): string {
  const seen = new Set<string>();
  let current = word;
  let next = byKey.get(`false ${current}`)?.replacement ?? current;
  while (next !== current) {
    seen.add(current);
    if (seen.has(next)) throw new Error(`These names replace each other: ${[...seen].join(", ")}`);
    current = next;
    next = byKey.get(`false ${current}`)?.replacement ?? current;
  }
  return current;
}

/** Spellings that also say that a contest is won: "the NBA title" is won, "the NBA Finals" are played. */
const TITLE_PATTERN = / (?:champions?|championship|title|winner|crown|trophy)$/i;

const foldAccents = (text: string): string =>
  text
    .replace(/[øØ]/g, "o")
    .replaceAll("ß", "ss")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[’‘´`]/g, "'");

let index: ReturnType<typeof indexSpellings> | null = null;

interface Word {
  readonly text: string;
  readonly lower: string;
  readonly start: number;
  readonly end: number;
}

/**
 * @param text  a text without accents, in its original case
 * @param mark  is put before each replacement, so that the caller can tell it from the other words
 */
export function replaceNames(text: string, mark = ""): string {
  index ??= indexSpellings(allNames());
  const words: Word[] = [];
  for (const match of text.matchAll(WORD_PATTERN)) {
    const [word] = match;
    words.push({ text: word, lower: word.toLowerCase(), start: match.index, end: match.index + word.length });
  }
  let replaced = "";
  let position = 0;
  for (let at = 0; at < words.length; at++) {
    const spelling = index.get(words[at]?.lower ?? "")?.find((candidate) => isAt(candidate, text, words, at));
    if (spelling === undefined) continue;
    const last = at + spelling.words.length - 1;
    replaced += `${text.slice(position, words[at]?.start)} ${mark}${spelling.replacement} `;
    position = words[last]?.end ?? text.length;
    at = last;
  }
  return position === 0 ? text : replaced + text.slice(position);
}

function isAt({ words, written, isUpperCase }: Spelling, text: string, found: readonly Word[], at: number): boolean {
  if (at + words.length > found.length) return false;
  for (const [offset, word] of words.entries()) {
    const current = found[at + offset];
    if (current === undefined || current.lower !== word) return false;
    const previous = found[at + offset - 1];
    if (offset > 0 && previous !== undefined && !GAP_PATTERN.test(text.slice(previous.end, current.start)))
      return false;
  }
  if (isUpperCase && !isAbbreviation(found.slice(at, at + words.length), written)) return false;
  const [first, previous] = [found[at], found[at - 1]];
  if (first === undefined || previous === undefined || !/^[ap]m$/.test(first.lower)) return true;
  // "7 PM" is a time.
  return !(/^\d{1,2}$/.test(previous.text) && /^ ?$/.test(text.slice(previous.end, first.start)));
}

function isAbbreviation(found: readonly Word[], written: readonly string[]): boolean {
  const text = found.map((word) => word.text).join(" ");
  return text === text.toUpperCase() || written.includes(text);
}
