/** Finds candidates for a match: questions of other venues that share rare words, thresholds and dates. */
import { copyInto } from "../lib/numbers.ts";
import { TopK } from "../lib/top-k.ts";

/** Maximum number of postings read for one query. The rarest terms are read first. */
const POSTINGS_READ_MAX = 20_000;
/** Maximum number of postings of a term at a venue. A term with more is read only if it is the rarest one. */
const POSTING_LENGTH_MAX = 8_000;

interface Term {
  readonly text: string;
  /** Rows by venue number, unsorted. */
  readonly postings: number[][];
}

export interface SearchTerm {
  readonly text: string;
  /** Score of a row that has this query term, in (0, 1]. */
  readonly weight: number;
}

/** Inverted index from terms to rows (small integers), by venue. */
export class CandidateIndex {
  readonly #terms = new Map<string, Term>();
  readonly #termsOfRow: (readonly Term[] | undefined)[] = [];
  readonly #venueOfRow: number[] = [];
  /** Total weight of each row's terms. */
  readonly #weightOfRow: number[] = [];
  #scores = new Float32Array(1_024);

  /**
   * Adds a row, or replaces its terms.
   *
   * @param terms  terms without repeated texts
   */
  set(row: number, venue: number, terms: readonly SearchTerm[]): void {
    this.delete(row);
    this.#weightOfRow[row] = terms.reduce((sum, { weight }) => sum + weight, 0);
    this.#venueOfRow[row] = venue;
    this.#termsOfRow[row] = terms.map(({ text }) => this.#addPosting(text, row, venue));
    if (row >= this.#scores.length) {
      this.#scores = copyInto(new Float32Array(Math.max(row + 1, this.#scores.length * 2)), this.#scores);
    }
  }

  #addPosting(text: string, row: number, venue: number): Term {
    let term = this.#terms.get(text);
    if (term === undefined) {
      term = { text, postings: [] };
      this.#terms.set(text, term);
    }
    while (term.postings.length <= venue) term.postings.push([]);
    term.postings[venue]?.push(row);
    return term;
  }

  delete(row: number): void {
    const venue = this.#venueOfRow[row];
    if (venue === undefined) return;
    for (const term of this.#termsOfRow[row] ?? []) {
      const rows = term.postings[venue];
      if (rows === undefined) continue;
      const last = rows.pop();
      if (last !== undefined && last !== row) rows[rows.indexOf(row)] = last;
      if (term.postings.every((list) => list.length === 0)) this.#terms.delete(term.text);
    }
    this.#termsOfRow[row] = undefined;
  }

  /**
   * Returns the rows of other venues whose terms have the largest total weight in the query of a row, best first.
   *
   * @param row  row whose candidates are searched; rows of its venue are excluded
   * @param shareMin  minimum total weight of the common terms, as a share of the mean total weight of both rows, in
   * [0, 1]. The share is symmetric, so that the result does not depend on which of two rows is searched for.
   */
  find(
    terms: readonly SearchTerm[],
    options: { readonly row: number; readonly limit: number; readonly shareMin: number },
  ): number[] {
    const { row: asking, limit, shareMin } = options;
    const venue = this.#venueOfRow[asking];
    const weight = this.#weightOfRow[asking] ?? 0;
    const lists: { weight: number; rows: readonly number[] }[] = [];
    for (const { text, weight } of terms) {
      for (const [index, rows] of (this.#terms.get(text)?.postings ?? []).entries())
        if (index !== venue && rows.length > 0) lists.push({ weight, rows });
    }
    lists.sort((a, b) => a.rows.length - b.rows.length);
    const touched: number[] = [];
    const scores = this.#scores;
    let read = 0;
    for (const { weight, rows } of lists) {
      if (read > 0 && (rows.length > POSTING_LENGTH_MAX || read + rows.length > POSTINGS_READ_MAX)) break;
      const count = Math.min(rows.length, POSTINGS_READ_MAX);
      read += count;
      for (let index = 0; index < count; index++) {
        const row = rows[index] ?? 0;
        const score = scores[row] ?? 0;
        if (score === 0) touched.push(row);
        scores[row] = score + weight;
      }
    }
    const best = new TopK(limit);
    for (const row of touched) {
      const score = scores[row] ?? 0;
      scores[row] = 0;
      if (score >= (shareMin * (weight + (this.#weightOfRow[row] ?? 0))) / 2) best.offer(row, score);
    }
    return best.toArray().map(({ row }) => row);
  }
}
