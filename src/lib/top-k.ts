/**
 * Selects the rows (small non-negative integers) with the highest scores without sorting all of them: a binary heap of
 * fixed size. Of rows with equal scores, those with lower numbers come first.
 */
export class TopK {
  readonly #limit: number;
  readonly #rows: Uint32Array;
  readonly #scores: Float64Array;
  #size = 0;

  /** @param limit  number of rows to select, at least 1 */
  constructor(limit: number) {
    this.#limit = limit;
    this.#rows = new Uint32Array(limit);
    this.#scores = new Float64Array(limit);
  }

  /** Adds a row unless `limit` rows are better. The score must not be NaN. */
  offer(row: number, score: number): void {
    if (this.#size < this.#limit) {
      this.#size += 1;
      this.#siftUp(this.#size - 1, row, score);
    } else if (this.#isBetter(row, score, 0)) this.#siftDown(row, score);
  }

  /** Minimum score for a row to be selected; -Infinity while fewer than `limit` rows are selected. */
  get scoreMin(): number {
    return this.#size < this.#limit ? Number.NEGATIVE_INFINITY : (this.#scores[0] ?? 0);
  }

  /** Returns the selected rows with their scores, best first. */
  toArray(): { readonly row: number; readonly score: number }[] {
    return Array.from({ length: this.#size }, (_, index) => ({
      row: this.#rows[index] ?? 0,
      score: this.#scores[index] ?? 0,
    })).sort((a, b) => b.score - a.score || a.row - b.row);
  }

  /** Returns whether a row ranks above the row at an index of the heap. */
  #isBetter(row: number, score: number, index: number): boolean {
    const other = this.#scores[index] ?? 0;
    return score > other || (score === other && row < (this.#rows[index] ?? 0));
  }

  #set(index: number, row: number, score: number): void {
    this.#rows[index] = row;
    this.#scores[index] = score;
  }

  /** Places a row at an index or above it. The worst row is at index 0. */
  #siftUp(start: number, row: number, score: number): void {
    let index = start;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (this.#isBetter(row, score, parent)) break;
      this.#set(index, this.#rows[parent] ?? 0, this.#scores[parent] ?? 0);
      index = parent;
    }
    this.#set(index, row, score);
  }

  /** Replaces the worst row. */
  #siftDown(row: number, score: number): void {
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= this.#size) break;
      const right = child + 1;
      if (right < this.#size && !this.#isBetter(this.#rows[right] ?? 0, this.#scores[right] ?? 0, child)) child = right;
      if (!this.#isBetter(row, score, child)) break;
      this.#set(index, this.#rows[child] ?? 0, this.#scores[child] ?? 0);
      index = child;
    }
    this.#set(index, row, score);
  }
}
