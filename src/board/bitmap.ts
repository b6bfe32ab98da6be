import { copyInto, countBits } from "../lib/numbers.ts";

/** Maximum number of rows stored as a list. Larger sets are smaller and faster as bits. */
const SPARSE_ROWS_MAX = 2_048;
const INITIAL_WORD_COUNT = 256;
const EMPTY_BITS = new Uint32Array(0);

/**
 * A set of row numbers (small non-negative integers). A sparse set is stored as a sorted list, a dense set as one bit
 * per row number: in a search index, some words occur in a few rows and others in most rows.
 */
export class Bitmap {
  /** Sorted rows of a sparse set; null for a dense set. */
  #list: number[] | null = [];
  #bits = EMPTY_BITS;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Whether the set is stored as a list. Iterating over a sparse set is faster than looking rows up in it. */
  get isSparse(): boolean {
    return this.#list !== null;
  }

  has(row: number): boolean {
    if (this.#list === null) return (((this.#bits[row >>> 5] ?? 0) >>> (row & 31)) & 1) === 1;
    return this.#list[lowerBound(this.#list, row)] === row;
  }

  add(row: number): void {
    const list = this.#list;
    if (list === null) {
      this.#setBit(row);
      return;
    }
    const last = list.at(-1);
    if (last === undefined || last < row) list.push(row);
    else {
      const index = lowerBound(list, row);
      if (list[index] === row) return;
      list.splice(index, 0, row);
    }
    this.#size += 1;
    if (this.#size > SPARSE_ROWS_MAX) this.#convertToBits();
  }

  delete(row: number): void {
    const list = this.#list;
    if (list !== null) {
      const index = lowerBound(list, row);
      if (list[index] !== row) return;
      list.splice(index, 1);
      this.#size -= 1;
      return;
    }
    if (!this.has(row)) return;
    this.#bits[row >>> 5] = (this.#bits[row >>> 5] ?? 0) & ~(1 << (row & 31));
    this.#size -= 1;
    // Converts only at half of the maximum; otherwise alternating `add` and `delete` would convert the set at each
    // call.
    if (this.#size <= SPARSE_ROWS_MAX / 2) this.#assignBits(this.#bits);
  }

  /** Adds every row of another set. */
  addAll(other: Bitmap): void {
    if (other.#list !== null) {
      for (const row of other.#list) this.add(row);
      return;
    }
    if (this.#list !== null) this.#convertToBits();
    this.#growTo(other.#bits.length);
    for (let index = 0; index < other.#bits.length; index++) {
      this.#bits[index] = (this.#bits[index] ?? 0) | (other.#bits[index] ?? 0);
    }
    this.#size = countRows(this.#bits);
  }

  /** Visits the rows in ascending order. */
  forEach(visit: (row: number) => void): void {
    if (this.#list !== null) {
      for (const row of this.#list) visit(row);
      return;
    }
    for (let index = 0; index < this.#bits.length; index++) {
      for (let word = this.#bits[index] ?? 0; word !== 0; word &= word - 1) {
        visit(index * 32 + 31 - Math.clz32(word & -word));
      }
    }
  }

  /** Returns the rows in ascending order. */
  toArray(): number[] {
    const rows: number[] = [];
    this.forEach((row) => {
      rows.push(row);
    });
    return rows;
  }

  /** Returns the set of all `target[row]` that are not negative, for the rows of this set. */
  map(target: Int32Array): Bitmap {
    const mappedRows = new Bitmap();
    if (this.#list !== null) {
      for (const row of this.#list) {
        const value = target[row] ?? -1;
        if (value >= 0) mappedRows.add(value);
      }
      return mappedRows;
    }
    const bits = new Uint32Array((target.length >>> 5) + 1);
    for (let index = 0; index < this.#bits.length; index++) {
      for (let word = this.#bits[index] ?? 0; word !== 0; word &= word - 1) {
        const value = target[index * 32 + 31 - Math.clz32(word & -word)] ?? -1;
        if (value >= 0) bits[value >>> 5] = (bits[value >>> 5] ?? 0) | (1 << (value & 31));
      }
    }
    mappedRows.#assignBits(bits);
    return mappedRows;
  }

  /** Returns the rows that all sets contain. A single set is returned itself; no sets result in an empty set. */
  static intersection(sets: readonly Bitmap[]): Bitmap {
    // If any set is sparse, iterate over the smallest sparse set and look up each of its rows in the other sets.
    const [firstSet, ...otherSets] = [...sets].sort(
      (a, b) => Number(b.isSparse) - Number(a.isSparse) || a.size - b.size,
    );
    if (firstSet === undefined) return new Bitmap();
    if (otherSets.length === 0) return firstSet;
    const commonRows = new Bitmap();
    if (firstSet.#list !== null) {
      for (const row of firstSet.#list) if (otherSets.every((other) => other.has(row))) commonRows.add(row);
      return commonRows;
    }
    const bits = firstSet.#bits.slice();
    for (const other of otherSets) {
      for (let index = 0; index < bits.length; index++) bits[index] = (bits[index] ?? 0) & (other.#bits[index] ?? 0);
    }
    commonRows.#assignBits(bits);
    return commonRows;
  }

  /** Replaces the rows of this set by the given bits; converts them to a list if they are sparse. */
  #assignBits(bits: Uint32Array<ArrayBuffer>): void {
    this.#list = null;
    this.#bits = bits;
    this.#size = countRows(bits);
    if (this.#size > SPARSE_ROWS_MAX / 2) return;
    this.#list = this.toArray();
    this.#bits = EMPTY_BITS;
  }

  #convertToBits(): void {
    const list = this.#list ?? [];
    this.#list = null;
    this.#bits = new Uint32Array(Math.max(INITIAL_WORD_COUNT, ((list.at(-1) ?? 0) >>> 5) + 1));
    this.#size = 0;
    for (const row of list) this.#setBit(row);
  }

  #setBit(row: number): void {
    const index = row >>> 5;
    if (index >= this.#bits.length) this.#growTo(Math.max(index + 1, Math.ceil(this.#bits.length * 1.5)));
    const word = this.#bits[index] ?? 0;
    const bit = 1 << (row & 31);
    if ((word & bit) !== 0) return;
    this.#bits[index] = word | bit;
    this.#size += 1;
  }

  #growTo(length: number): void {
    if (length <= this.#bits.length) return;
    this.#bits = copyInto(new Uint32Array(length), this.#bits);
  }
}

/** Index of the first element that is at least `row`. */
function lowerBound(sorted: readonly number[], row: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

function countRows(bits: Uint32Array): number {
  let count = 0;
  for (let index = 0; index < bits.length; index++) count += countBits(bits[index] ?? 0);
  return count;
}
