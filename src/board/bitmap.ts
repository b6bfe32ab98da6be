/** A set of more rows than this is kept as bits: by then they take no more memory, and are quicker to combine. */
const SPARSE_ROWS_MAX = 2_048;
const WORDS_AT_FIRST = 256;
const NO_BITS = new Uint32Array(0);

/**
 * A set of rows, which are small integers from 0 on: a sorted list while there are few, one bit a row once there are
 * many. Made for the long and the short lists of a search index alike.
 */
export class Bitmap {
  #few: number[] | null = [];
  #bits = NO_BITS;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Whether there are so few that they are quicker looked through than looked up. */
  get isSparse(): boolean {
    return this.#few !== null;
  }

  has(row: number): boolean {
    if (this.#few === null) return (((this.#bits[row >>> 5] ?? 0) >>> (row & 31)) & 1) === 1;
    return this.#few[placeOf(this.#few, row)] === row;
  }

  add(row: number): void {
    const few = this.#few;
    if (few === null) {
      this.#setBit(row);
      return;
    }
    const last = few.at(-1);
    if (last === undefined || last < row) few.push(row);
    else {
      const place = placeOf(few, row);
      if (few[place] === row) return;
      few.splice(place, 0, row);
    }
    this.#size += 1;
    if (this.#size > SPARSE_ROWS_MAX) this.#toBits();
  }

  delete(row: number): void {
    const few = this.#few;
    if (few !== null) {
      const place = placeOf(few, row);
      if (few[place] !== row) return;
      few.splice(place, 1);
      this.#size -= 1;
      return;
    }
    if (!this.has(row)) return;
    this.#bits[row >>> 5] = (this.#bits[row >>> 5] ?? 0) & ~(1 << (row & 31));
    this.#size -= 1;
    // Half of the bound, so that one row coming and going does not turn the set over each time.
    if (this.#size <= SPARSE_ROWS_MAX / 2) this.#become(this.#bits);
  }

  /** Adds every row of another set. */
  addAll(other: Bitmap): void {
    if (other.#few !== null) {
      for (const row of other.#few) this.add(row);
      return;
    }
    if (this.#few !== null) this.#toBits();
    this.#growTo(other.#bits.length);
    for (let index = 0; index < other.#bits.length; index++) {
      this.#bits[index] = (this.#bits[index] ?? 0) | (other.#bits[index] ?? 0);
    }
    this.#size = countBits(this.#bits);
  }

  /** In rising order. */
  forEach(visit: (row: number) => void): void {
    if (this.#few !== null) {
      for (const row of this.#few) visit(row);
      return;
    }
    for (let index = 0; index < this.#bits.length; index++) {
      for (let word = this.#bits[index] ?? 0; word !== 0; word &= word - 1) {
        visit(index * 32 + 31 - Math.clz32(word & -word));
      }
    }
  }

  /** The numbers that the rows of this set have; a row whose number is below 0 has none. */
  mapped(numberOf: Int32Array): Bitmap {
    const found = new Bitmap();
    if (this.#few !== null) {
      for (const row of this.#few) {
        const number = numberOf[row] ?? -1;
        if (number >= 0) found.add(number);
      }
      return found;
    }
    const bits = new Uint32Array((numberOf.length >>> 5) + 1);
    for (let index = 0; index < this.#bits.length; index++) {
      for (let word = this.#bits[index] ?? 0; word !== 0; word &= word - 1) {
        const number = numberOf[index * 32 + 31 - Math.clz32(word & -word)] ?? -1;
        if (number >= 0) bits[number >>> 5] = (bits[number >>> 5] ?? 0) | (1 << (number & 31));
      }
    }
    found.#become(bits);
    return found;
  }

  /** What all of these sets hold; of one set that set itself, of none an empty one. */
  static intersection(sets: readonly Bitmap[]): Bitmap {
    // A list first: it is looked through once, and bits are only looked up.
    const [first, ...others] = [...sets].sort((a, b) => Number(b.isSparse) - Number(a.isSparse) || a.size - b.size);
    if (first === undefined) return new Bitmap();
    if (others.length === 0) return first;
    const common = new Bitmap();
    if (first.#few !== null) {
      for (const row of first.#few) if (others.every((other) => other.has(row))) common.add(row);
      return common;
    }
    const bits = first.#bits.slice();
    for (const other of others) {
      for (let index = 0; index < bits.length; index++) bits[index] = (bits[index] ?? 0) & (other.#bits[index] ?? 0);
    }
    common.#become(bits);
    return common;
  }

  /** Takes over bits, as a list where they are few. */
  #become(bits: Uint32Array<ArrayBuffer>): void {
    this.#few = null;
    this.#bits = bits;
    this.#size = countBits(bits);
    if (this.#size > SPARSE_ROWS_MAX / 2) return;
    const few: number[] = [];
    this.forEach((row) => {
      few.push(row);
    });
    this.#few = few;
    this.#bits = NO_BITS;
  }

  #toBits(): void {
    const few = this.#few ?? [];
    this.#few = null;
    this.#bits = new Uint32Array(Math.max(WORDS_AT_FIRST, ((few.at(-1) ?? 0) >>> 5) + 1));
    this.#size = 0;
    for (const row of few) this.#setBit(row);
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
    const bits = new Uint32Array(length);
    bits.set(this.#bits);
    this.#bits = bits;
  }
}

/** Where `row` stands or would stand in a sorted list. */
function placeOf(rows: readonly number[], row: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle] ?? 0) < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

function countBits(words: Uint32Array): number {
  let count = 0;
  for (let index = 0; index < words.length; index++) {
    let word = words[index] ?? 0;
    word -= (word >>> 1) & 0x55555555;
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
    count += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return count;
}
