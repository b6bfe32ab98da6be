/** Words shorter than this are looked up whole, longer ones also by their beginning. */
const PREFIX_LENGTH_MIN = 3;
const QUERY_WORDS_MAX = 32;

/** "125,000" is the number that others write 125000, and "125,0" is how one begins to type it. */
const DIGIT_GROUP_COMMA = /(?<=\p{N}),(?=\p{N})/gu;

/** Lower-case words and numbers of a text, accents removed: "S. Núñez, 3.5% of 1,000" gives s, nunez, 3.5, of, 1000. */
export function words(text: string): string[] {
  return (
    text
      .normalize("NFKD")
      .replace(/\p{M}/gu, "")
      .replace(DIGIT_GROUP_COMMA, "")
      .toLowerCase()
      .match(/\p{N}+(?:\.\p{N}+)*|\p{L}+/gu) ?? []
  );
}

/** Inverted index from word to the rows whose text has it. Rows are small integers; a row's text may be replaced. */
export class TextIndex {
  readonly #rowsByWord = new Map<string, Set<number>>();
  readonly #wordsByRow = new Map<number, readonly string[]>();

  set(row: number, text: string): void {
    this.delete(row);
    const unique = [...new Set(words(text))];
    this.#wordsByRow.set(row, unique);
    for (const word of unique) {
      const rows = this.#rowsByWord.get(word);
      if (rows === undefined) this.#rowsByWord.set(word, new Set([row]));
      else rows.add(row);
    }
  }

  delete(row: number): void {
    for (const word of this.#wordsByRow.get(row) ?? []) {
      const rows = this.#rowsByWord.get(word);
      rows?.delete(row);
      if (rows?.size === 0) this.#rowsByWord.delete(word);
    }
    this.#wordsByRow.delete(row);
  }

  /** Rows that have every word of the query; the last word may be unfinished. An empty query finds nothing. */
  search(query: string): Set<number> {
    const wanted = words(query).slice(0, QUERY_WORDS_MAX);
    const last = wanted.pop();
    if (last === undefined) return new Set();
    const sets = [...new Set(wanted)].map((word) => this.#rowsByWord.get(word) ?? new Set<number>());
    sets.push(this.#startingWith(last));
    sets.sort((a, b) => a.size - b.size);
    const [smallest = new Set<number>(), ...others] = sets;
    return new Set([...smallest].filter((row) => others.every((rows) => rows.has(row))));
  }

  #startingWith(beginning: string): Set<number> {
    const whole = this.#rowsByWord.get(beginning) ?? new Set<number>();
    if (beginning.length < PREFIX_LENGTH_MIN) return whole;
    const found = new Set(whole);
    for (const [word, rows] of this.#rowsByWord) {
      if (word.length > beginning.length && word.startsWith(beginning)) for (const row of rows) found.add(row);
    }
    return found;
  }
}
