import { Bitmap } from "./bitmap.ts";

/** Minimum length of a query word that matches by prefix. Shorter query words match only complete words. */
const PREFIX_LENGTH_MIN = 3;
const QUERY_WORDS_MAX = 32;
/** Maximum number of rows that `rank` reads per query. Rows of rare words are read first. */
const RANKED_ROWS_MAX = 20_000;
/** Similarities are rounded to multiples of 1 divided by this number. */
const SIMILARITY_STEPS = 1e12;

/** Matches the comma of "125,000", which is indexed as 125000, and of "125,0", which is a prefix of it. */
const DIGIT_GROUP_COMMA_PATTERN = /(?<=\p{N}),(?=\p{N})/gu;
const ASCII_DIGIT_GROUP_COMMA_PATTERN = /(?<=[0-9]),(?=[0-9])/g;
const ASCII_PATTERN = /^[\0-\x7f]*$/;

/** Returns lower-case words and numbers without accents. "Núñez, 3.5% of 1,000" contains nunez, 3.5, of, 1000. */
export function splitWords(text: string): string[] {
  // Fast path with the same result: most titles are ASCII, and 300,000 titles are indexed at start.
  if (ASCII_PATTERN.test(text)) {
    const textWithoutCommas = text.includes(",") ? text.replace(ASCII_DIGIT_GROUP_COMMA_PATTERN, "") : text;
    return textWithoutCommas.toLowerCase().match(/[0-9]+(?:\.[0-9]+)*|[a-z]+/g) ?? [];
  }
  return (
    text
      .normalize("NFKD")
      .replace(/\p{M}/gu, "")
      .replace(DIGIT_GROUP_COMMA_PATTERN, "")
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
  /** Words of at least `PREFIX_LENGTH_MIN` characters, by their first `PREFIX_LENGTH_MIN` characters. */
  readonly #wordsByPrefix = new Map<string, IndexedWord[]>();
  readonly #wordsOfRow: (readonly IndexedWord[] | undefined)[] = [];
  #rowCount = 0;

  /** Indexes the text of a row, replacing its previous text. */
  set(row: number, text: string): void {
    this.delete(row);
    const uniqueWords = [...new Set(splitWords(text))].map((word) => this.#words.get(word) ?? this.#addWord(word));
    this.#wordsOfRow[row] = uniqueWords;
    this.#rowCount += 1;
    for (const { rows } of uniqueWords) rows.add(row);
  }

  delete(row: number): void {
    if (this.#wordsOfRow[row] !== undefined) this.#rowCount -= 1;
    for (const word of this.#wordsOfRow[row] ?? []) {
      word.rows.delete(row);
      if (word.rows.size === 0) this.#removeWord(word);
    }
    this.#wordsOfRow[row] = undefined;
  }

  /**
   * Returns the rows that contain every word of the query; the last word may be a prefix. An empty query matches no
   * row. The result may be shared with the index: do not modify it, and read it before the index changes.
   */
  find(query: string): Bitmap {
    const queryWords = splitWords(query).slice(0, QUERY_WORDS_MAX);
    const lastWord = queryWords.pop();
    if (lastWord === undefined) return new Bitmap();
    const exactWordRows = [...new Set(queryWords)].map((word) => this.#words.get(word)?.rows ?? new Bitmap());
    if (exactWordRows.some(({ size }) => size === 0)) return new Bitmap();
    return Bitmap.intersection([...exactWordRows, this.#findPrefix(lastWord)]);
  }

  /** Returns the rows of each query word, rarest word first. Each word may be a prefix. Do not modify the results. */
  findEach(query: string): Bitmap[] {
    const queryWords = [...new Set(splitWords(query).slice(0, QUERY_WORDS_MAX))];
    return queryWords.map((word) => this.#findPrefix(word)).sort((a, b) => a.size - b.size);
  }

  /**
   * Returns the rows that share words with the query, and how similar they are: 5 w(query and row) / (4 w(query) +
   * w(row)), where the weight of a word in n of N rows is ln(1 + N / n). This is the F2 score: query words that are
   * missing in the row count four times as much as extra words in the row, because queries are short. Only rows with
   * one of the rarest query words are found, at most 20,000.
   */
  rank(query: string): { readonly row: number; readonly similarity: number }[] {
    const queryWords = [...new Set(splitWords(query).slice(0, QUERY_WORDS_MAX))];
    const known = queryWords.flatMap((word) => this.#words.get(word) ?? []).sort((a, b) => a.rows.size - b.rows.size);
    const weights = new Map<IndexedWord, number>();
    const weightOf = (word: IndexedWord | undefined): number => {
      const known = word === undefined ? undefined : weights.get(word);
      const weight = known ?? Math.log(1 + this.#rowCount / Math.max(1, word?.rows.size ?? 0));
      if (word !== undefined && known === undefined) weights.set(word, weight);
      return weight;
    };
    const candidates = new Set<number>();
    for (const { rows } of known) {
      if (candidates.size > 0 && candidates.size + rows.size > RANKED_ROWS_MAX) break;
      for (const row of rows.toArray().slice(0, RANKED_ROWS_MAX)) candidates.add(row);
    }
    const asked = new Set(known);
    const queryWeight = queryWords.reduce((sum, word) => sum + weightOf(this.#words.get(word)), 0);
    return [...candidates].map((row) => {
      let shared = 0;
      let total = 4 * queryWeight;
      for (const word of this.#wordsOfRow[row] ?? []) {
        const weight = weightOf(word);
        total += weight;
        if (asked.has(word)) shared += weight;
      }
      // Without rounding, rows with the same words in another order would have slightly different similarities.
      return { row, similarity: Math.round(((5 * shared) / total) * SIMILARITY_STEPS) / SIMILARITY_STEPS };
    });
  }

  #findPrefix(prefix: string): Bitmap {
    if (prefix.length < PREFIX_LENGTH_MIN) return this.#words.get(prefix)?.rows ?? new Bitmap();
    const matches = (this.#wordsByPrefix.get(prefix.slice(0, PREFIX_LENGTH_MIN)) ?? []).filter(({ text }) =>
      text.startsWith(prefix),
    );
    const [firstMatch] = matches;
    if (matches.length === 1 && firstMatch !== undefined) return firstMatch.rows;
    const rows = new Bitmap();
    for (const word of matches) rows.addAll(word.rows);
    return rows;
  }

  #addWord(text: string): IndexedWord {
    const word: IndexedWord = { text, rows: new Bitmap() };
    this.#words.set(text, word);
    if (text.length >= PREFIX_LENGTH_MIN) {
      const prefix = text.slice(0, PREFIX_LENGTH_MIN);
      const wordsWithPrefix = this.#wordsByPrefix.get(prefix);
      if (wordsWithPrefix === undefined) this.#wordsByPrefix.set(prefix, [word]);
      else wordsWithPrefix.push(word);
    }
    return word;
  }

  #removeWord(word: IndexedWord): void {
    this.#words.delete(word.text);
    const prefix = word.text.slice(0, PREFIX_LENGTH_MIN);
    const wordsWithPrefix = this.#wordsByPrefix.get(prefix) ?? [];
    const lastWord = wordsWithPrefix.pop();
    if (lastWord !== undefined && lastWord !== word) wordsWithPrefix[wordsWithPrefix.indexOf(word)] = lastWord;
    if (wordsWithPrefix.length === 0) this.#wordsByPrefix.delete(prefix);
  }
}
