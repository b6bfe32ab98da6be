import { Bitmap } from "./bitmap.ts";

/** Shorter words must match completely; longer words also match by prefix. */
const PREFIX_LENGTH_MIN = 3;
const QUERY_WORDS_MAX = 32;

/** Matches the comma of "125,000", which is indexed as 125000, and of "125,0", which is a prefix of it. */
const DIGIT_GROUP_COMMA = /(?<=\p{N}),(?=\p{N})/gu;
const ASCII_DIGIT_GROUP_COMMA = /(?<=[0-9]),(?=[0-9])/g;
const ASCII = /^[\0-\x7f]*$/;

/** Lower-case words and numbers of a text, without accents: "S. Núñez, 3.5% of 1,000" has s, nunez, 3.5, of, 1000. */
export function words(text: string): string[] {
  // Fast path with the same rules: most titles are ASCII, and a start indexes 300,000 titles.
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

/** Inverted index from words to rows (small integers). */
export class TextIndex {
  readonly #words = new Map<string, IndexedWord>();
  /** Words by their first `PREFIX_LENGTH_MIN` letters. */
  readonly #wordsByPrefix = new Map<string, IndexedWord[]>();
  readonly #wordsOfRow: (readonly IndexedWord[] | undefined)[] = [];

  /** Indexes the text of a row, replacing its previous text. */
  set(row: number, text: string): void {
    this.delete(row);
    const unique = [...new Set(words(text))].map((word) => this.#words.get(word) ?? this.#newWord(word));
    this.#wordsOfRow[row] = unique;
    for (const { rows } of unique) rows.add(row);
  }

  delete(row: number): void {
    for (const word of this.#wordsOfRow[row] ?? []) {
      word.rows.delete(row);
      if (word.rows.size === 0) this.#removeWord(word);
    }
    this.#wordsOfRow[row] = undefined;
  }

  /**
   * Rows that contain every word of the query; the last word may be a prefix. An empty query matches nothing. Do not
   * modify the result, and read it before the index changes.
   */
  find(query: string): Bitmap {
    const queryWords = words(query).slice(0, QUERY_WORDS_MAX);
    const last = queryWords.pop();
    if (last === undefined) return new Bitmap();
    const exact = [...new Set(queryWords)].map((word) => this.#words.get(word)?.rows ?? new Bitmap());
    if (exact.some(({ size }) => size === 0)) return new Bitmap();
    return Bitmap.intersection([...exact, this.#findPrefix(last)]);
  }

  /** The rows of each word of the query, rarest word first. Each word may be a prefix. Restrictions as for `find`. */
  findEach(query: string): Bitmap[] {
    const queryWords = [...new Set(words(query).slice(0, QUERY_WORDS_MAX))];
    return queryWords.map((word) => this.#findPrefix(word)).sort((a, b) => a.size - b.size);
  }

  #findPrefix(prefix: string): Bitmap {
    if (prefix.length < PREFIX_LENGTH_MIN) return this.#words.get(prefix)?.rows ?? new Bitmap();
    const matches = (this.#wordsByPrefix.get(prefix.slice(0, PREFIX_LENGTH_MIN)) ?? []).filter(({ text }) =>
      text.startsWith(prefix),
    );
    const [first] = matches;
    if (matches.length === 1 && first !== undefined) return first.rows;
    const rows = new Bitmap();
    for (const word of matches) rows.addAll(word.rows);
    return rows;
  }

  #newWord(text: string): IndexedWord {
    const word: IndexedWord = { text, rows: new Bitmap() };
    this.#words.set(text, word);
    if (text.length >= PREFIX_LENGTH_MIN) {
      const prefix = text.slice(0, PREFIX_LENGTH_MIN);
      const others = this.#wordsByPrefix.get(prefix);
      if (others === undefined) this.#wordsByPrefix.set(prefix, [word]);
      else others.push(word);
    }
    return word;
  }

  #removeWord(word: IndexedWord): void {
    this.#words.delete(word.text);
    const prefix = word.text.slice(0, PREFIX_LENGTH_MIN);
    const others = this.#wordsByPrefix.get(prefix) ?? [];
    const last = others.pop();
    if (last !== undefined && last !== word) others[others.indexOf(word)] = last;
    if (others.length === 0) this.#wordsByPrefix.delete(prefix);
  }
}
