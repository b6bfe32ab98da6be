import { Bitmap } from "./bitmap.ts";

/** Words shorter than this are looked up whole, longer ones also by their beginning. */
const PREFIX_LENGTH_MIN = 3;
const QUERY_WORDS_MAX = 32;

/** "125,000" is the number that others write 125000, and "125,0" is how one begins to type it. */
const DIGIT_GROUP_COMMA = /(?<=\p{N}),(?=\p{N})/gu;
const ASCII_DIGIT_GROUP_COMMA = /(?<=[0-9]),(?=[0-9])/g;
const ASCII = /^[\0-\x7f]*$/;

/** Lower-case words and numbers of a text, accents removed: "S. Núñez, 3.5% of 1,000" gives s, nunez, 3.5, of, 1000. */
export function words(text: string): string[] {
  // The same rules without the tables of Unicode: most titles need no more, and a start reads 300,000 of them.
  if (ASCII.test(text)) {
    const joined = text.includes(",") ? text.replace(ASCII_DIGIT_GROUP_COMMA, "") : text;
    return joined.toLowerCase().match(/[0-9]+(?:\.[0-9]+)*|[a-z]+/g) ?? [];
  }
  return (
    text
      .normalize("NFKD")
      .replace(/\p{M}/gu, "")
      .replace(DIGIT_GROUP_COMMA, "")
      .toLowerCase()
      .match(/\p{N}+(?:\.\p{N}+)*|\p{L}+/gu) ?? []
  );
}

interface IndexedWord {
  readonly text: string;
  readonly rows: Bitmap;
}

/** Inverted index from word to the rows whose text has it. Rows are small integers; a row's text may be replaced. */
export class TextIndex {
  readonly #words = new Map<string, IndexedWord>();
  /** Words that may be looked up by their beginning, by its first letters. */
  readonly #byBeginning = new Map<string, IndexedWord[]>();
  readonly #wordsOfRow: (readonly IndexedWord[] | undefined)[] = [];

  set(row: number, text: string): void {
    this.delete(row);
    const unique = [...new Set(words(text))].map((word) => this.#words.get(word) ?? this.#newWord(word));
    this.#wordsOfRow[row] = unique;
    for (const { rows } of unique) rows.add(row);
  }

  delete(row: number): void {
    for (const word of this.#wordsOfRow[row] ?? []) {
      word.rows.delete(row);
      if (word.rows.size === 0) this.#forget(word);
    }
    this.#wordsOfRow[row] = undefined;
  }

  /** Rows that have every word of the query; the last word may be unfinished. An empty query finds nothing. */
  search(query: string): Set<number> {
    const rows = new Set<number>();
    this.find(query).forEach((row) => {
      rows.add(row);
    });
    return rows;
  }

  /** As `search`, without the copy: what is given is to be read at once and not to be changed. */
  find(query: string): Bitmap {
    const wanted = words(query).slice(0, QUERY_WORDS_MAX);
    const last = wanted.pop();
    if (last === undefined) return new Bitmap();
    const whole = [...new Set(wanted)].map((word) => this.#words.get(word)?.rows ?? new Bitmap());
    if (whole.some(({ size }) => size === 0)) return new Bitmap();
    return Bitmap.intersection([...whole, this.#beginningWith(last)]);
  }

  /** The rows of each word of a query, any of which may be unfinished, fewest first; to be read at once. */
  findEach(query: string): Bitmap[] {
    const wanted = [...new Set(words(query).slice(0, QUERY_WORDS_MAX))];
    return wanted.map((word) => this.#beginningWith(word)).sort((a, b) => a.size - b.size);
  }

  #beginningWith(beginning: string): Bitmap {
    if (beginning.length < PREFIX_LENGTH_MIN) return this.#words.get(beginning)?.rows ?? new Bitmap();
    const found = (this.#byBeginning.get(beginning.slice(0, PREFIX_LENGTH_MIN)) ?? []).filter(({ text }) =>
      text.startsWith(beginning),
    );
    const [only] = found;
    if (found.length === 1 && only !== undefined) return only.rows;
    const rows = new Bitmap();
    for (const word of found) rows.addAll(word.rows);
    return rows;
  }

  #newWord(text: string): IndexedWord {
    const word: IndexedWord = { text, rows: new Bitmap() };
    this.#words.set(text, word);
    if (text.length >= PREFIX_LENGTH_MIN) {
      const beginning = text.slice(0, PREFIX_LENGTH_MIN);
      const others = this.#byBeginning.get(beginning);
      if (others === undefined) this.#byBeginning.set(beginning, [word]);
      else others.push(word);
    }
    return word;
  }

  #forget(word: IndexedWord): void {
    this.#words.delete(word.text);
    const beginning = word.text.slice(0, PREFIX_LENGTH_MIN);
    const others = this.#byBeginning.get(beginning) ?? [];
    const last = others.pop();
    if (last !== undefined && last !== word) others[others.indexOf(word)] = last;
    if (others.length === 0) this.#byBeginning.delete(beginning);
  }
}
