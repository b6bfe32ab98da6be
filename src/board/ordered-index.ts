const ROWS_AT_FIRST = 1_024;
const BLOCK_ROWS_MAX = 1_024;
/** Neighbours that together fill at most this share of a block become one. */
const MERGED_SHARE_MAX = 0.625;
/** What an unknown value is kept as: behind every number. */
const UNKNOWN = Number.NEGATIVE_INFINITY;

/** A place in the order: behind every row of a larger value, or of an equal one and a smaller name. */
export interface OrderedPosition {
  readonly value: number | null;
  readonly name: string;
}

interface Block {
  /** In order; only the first `length` count. */
  readonly rows: Uint32Array;
  length: number;
}

/**
 * Rows, which are small integers, in the order of a number each has: larger ones first, unknown ones last, equal ones by
 * name. The order is kept in blocks, so that a change of one among 300,000 rows costs about a microsecond and a walk from
 * any place begins after some twenty comparisons. Nothing is sorted before the first walk: filling costs next to nothing.
 */
export class OrderedIndex {
  /** NaN where the row is not in here. */
  #values = new Float64Array(ROWS_AT_FIRST).fill(Number.NaN);
  #blocks: Block[] | null = null;
  readonly #nameOf: (row: number) => string;
  readonly #blockRowsMax: number;

  /**
   * @param nameOf  tells rows of equal values apart; must not change while the row is in here
   * @param blockRowsMax  for tests: small blocks split and merge often
   */
  constructor(nameOf: (row: number) => string, blockRowsMax = BLOCK_ROWS_MAX) {
    this.#nameOf = nameOf;
    this.#blockRowsMax = blockRowsMax;
  }

  /** The row's value; null when it is unknown or the row is not in here. */
  value(row: number): number | null {
    const value = this.#values[row];
    return value === undefined || Number.isNaN(value) || value === UNKNOWN ? null : value;
  }

  set(row: number, value: number | null): void {
    const next = value === null || Number.isNaN(value) ? UNKNOWN : value;
    if (row >= this.#values.length) this.#grow(row + 1);
    const known = this.#values[row];
    if (known === next) return;
    if (known !== undefined && !Number.isNaN(known)) this.#takeOut(row);
    this.#values[row] = next;
    this.#putIn(row);
  }

  delete(row: number): void {
    const known = this.#values[row];
    if (known === undefined || Number.isNaN(known)) return;
    this.#takeOut(row);
    this.#values[row] = Number.NaN;
  }

  /**
   * Sorts what was only gathered so far; otherwise the first walk does, and takes longer.
   *
   * @param rowsByName  rows in the order of their names, among them all that are in here
   */
  prepare(rowsByName: readonly number[]): void {
    if (this.#blocks !== null) return;
    const rows = Uint32Array.from(rowsByName.filter((row) => !Number.isNaN(this.#values[row] ?? Number.NaN)));
    const values = this.#values;
    // The sort is stable, so equal values stay in the order of their names.
    this.#fill(
      rows.sort((a, b) => {
        const [x, y] = [values[a] ?? UNKNOWN, values[b] ?? UNKNOWN];
        return x === y ? 0 : x > y ? -1 : 1;
      }),
    );
  }

  /** Passes the rows behind a place, or all, in order, until `visit` gives false. Nothing may change meanwhile. */
  walk(after: OrderedPosition | null, visit: (row: number) => boolean): void {
    const blocks = this.#sorted();
    let index = 0;
    let place = 0;
    if (after !== null) {
      const value = after.value ?? UNKNOWN;
      index = this.#blockOf(blocks, value, after.name);
      const block = blocks[index];
      if (block === undefined) return;
      place = this.#placeIn(block, value, after.name);
      // The row that stands exactly here was seen.
      const row = place < block.length ? block.rows[place] : undefined;
      if (row !== undefined && this.#values[row] === value && this.#nameOf(row) === after.name) place += 1;
    }
    for (; index < blocks.length; index++, place = 0) {
      const block = blocks[index];
      if (block === undefined) return;
      const { rows, length } = block;
      for (; place < length; place++) if (!visit(rows[place] as number)) return;
    }
  }

  /** Whether `a` stands before, at or behind `b`: below 0, 0 or above. */
  compare(a: number, b: number): number {
    const [x, y] = [this.#values[a] ?? UNKNOWN, this.#values[b] ?? UNKNOWN];
    if (x !== y) return x > y ? -1 : 1;
    if (a === b) return 0;
    return this.#nameOf(a) < this.#nameOf(b) ? -1 : 1;
  }

  /** Whether the row stands behind a place. */
  isBehind(row: number, place: OrderedPosition): boolean {
    const value = place.value ?? UNKNOWN;
    const own = this.#values[row] ?? UNKNOWN;
    return own < value || (own === value && this.#nameOf(row) > place.name);
  }

  #sorted(): Block[] {
    if (this.#blocks !== null) return this.#blocks;
    const rows: number[] = [];
    for (let row = 0; row < this.#values.length; row++) if (!Number.isNaN(this.#values[row])) rows.push(row);
    return this.#fill(Uint32Array.from(rows).sort((a, b) => this.compare(a, b)));
  }

  #fill(sorted: Uint32Array): Block[] {
    const blocks: Block[] = [];
    // Half full, so that the first changes do not split every block.
    const step = Math.ceil(this.#blockRowsMax / 2);
    for (let start = 0; start < sorted.length; start += step)
      blocks.push(this.#newBlock(sorted.subarray(start, start + step)));
    this.#blocks = blocks;
    return blocks;
  }

  #putIn(row: number): void {
    const blocks = this.#blocks;
    if (blocks === null) return;
    const value = this.#values[row] ?? UNKNOWN;
    const name = this.#nameOf(row);
    const index = this.#blockOf(blocks, value, name);
    let block = blocks[index];
    if (block === undefined) {
      block = this.#newBlock(new Uint32Array(0));
      blocks.push(block);
    }
    const place = this.#placeIn(block, value, name);
    block.rows.copyWithin(place + 1, place, block.length);
    block.rows[place] = row;
    block.length += 1;
    if (block.length < this.#blockRowsMax) return;
    const kept = block.length >> 1;
    blocks.splice(index + 1, 0, this.#newBlock(block.rows.subarray(kept, block.length)));
    block.length = kept;
  }

  #newBlock(rows: Uint32Array): Block {
    const block: Block = { rows: new Uint32Array(this.#blockRowsMax), length: rows.length };
    block.rows.set(rows);
    return block;
  }

  #takeOut(row: number): void {
    const blocks = this.#blocks;
    if (blocks === null) return;
    const value = this.#values[row] ?? UNKNOWN;
    const name = this.#nameOf(row);
    const index = this.#blockOf(blocks, value, name);
    const block = blocks[index];
    const place = block === undefined ? 0 : this.#placeIn(block, value, name);
    if (block === undefined || place >= block.length || block.rows[place] !== row)
      throw new Error("a row's name changed while it was sorted");
    block.rows.copyWithin(place, place + 1, block.length);
    block.length -= 1;
    const next = blocks[index + 1];
    if (next !== undefined && block.length + next.length <= this.#blockRowsMax * MERGED_SHARE_MAX) {
      block.rows.set(next.rows.subarray(0, next.length), block.length);
      block.length += next.length;
      blocks.splice(index + 1, 1);
    } else if (block.length === 0) blocks.splice(index, 1);
  }

  /** The last block that begins at or before a place. */
  #blockOf(blocks: readonly Block[], value: number, name: string): number {
    let low = 0;
    let high = blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#isBefore(blocks[middle]?.rows[0] ?? 0, value, name)) low = middle;
      else high = middle - 1;
    }
    const next = blocks[low + 1]?.rows[0];
    // A block that begins exactly here is the one.
    return next !== undefined && this.#values[next] === value && this.#nameOf(next) === name ? low + 1 : low;
  }

  /** How many of a block's rows stand before a place. */
  #placeIn({ rows, length }: Block, value: number, name: string): number {
    let low = 0;
    let high = length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#isBefore(rows[middle] ?? 0, value, name)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #isBefore(row: number, value: number, name: string): boolean {
    const own = this.#values[row] ?? UNKNOWN;
    return own > value || (own === value && this.#nameOf(row) < name);
  }

  #grow(rows: number): void {
    const values = new Float64Array(Math.max(rows, this.#values.length * 2)).fill(Number.NaN);
    values.set(this.#values);
    this.#values = values;
  }
}
