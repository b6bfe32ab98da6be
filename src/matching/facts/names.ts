/** Finds the names in a title: sequences of capitalised words, and words of the tables. */
import { COMMON_WORDS } from "../text/common-words.ts";
import { STOP_WORDS } from "../text/lexicon.ts";
import { replaceNames } from "../text/replace-names.ts";
import { foldText, stemOf } from "../text/words.ts";

/** Marks the words that replace names of the tables. */
const MARK = "§";
const WORD_PATTERN = /§?[\p{L}\p{N}]+(?:['.][\p{L}]+)*/gu;
/** Lower-case words inside a name: "Lula da Silva", "Ludwig van Beethoven". */
const PARTICLES: ReadonlySet<string> = new Set(
  "da de del della di do dos du el al bin ibn la le van von der den ter y".split(" "),
);

/**
 * Returns the stems of each name in a title, in order. In a title in which all words are capitalised, words that other
 * titles often write in lower case are not names.
 *
 * @param original  the title in its original case
 */
export function findNames(original: string): readonly (readonly string[])[] {
  const text = replaceNames(foldText(original).replaceAll(MARK, " "), MARK);
  const names: string[][] = [];
  let current: string[] = [];
  const close = () => {
    if (current.length > 0) names.push(current);
    current = [];
  };
  let end = 0;
  for (const match of text.matchAll(WORD_PATTERN)) {
    const word = match[0].replace(/'s$/, "").replaceAll(".", "");
    if (!/^[ -]?$/.test(text.slice(end, match.index))) close();
    end = match.index + match[0].length;
    const lower = word.toLowerCase();
    const stem = stemOf(lower.replaceAll("'", ""));
    const isCapitalised = /^\p{Lu}/u.test(word) && !STOP_WORDS.has(lower) && !COMMON_WORDS.has(stem);
    if (word.startsWith(MARK)) {
      close();
      names.push([stemOf(lower.slice(1))]);
    } else if (isCapitalised) current.push(stem);
    else if (!(PARTICLES.has(lower) && current.length > 0)) close();
  }
  close();
  return names;
}
