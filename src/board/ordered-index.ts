const INITIAL_ROWS = 1_024;
const BLOCK_ROWS_MAX = 1_024;
/** Two adjacent blocks are merged if together they fill at most this share of one block. */
const MERGED_SHARE_MAX = 0.625;
/** Stored for an unknown value, which sorts after every number. */
const UNKNOWN = Number.NEGATIVE_INFINITY;

/** A position in the order. Larger values come first; equal values are ordered by id. */
export interface OrderedPosition {
  readonly value: number | null;
  readonly id: string;
}

interface Block {
  /** Sorted. Only the first `length` elements are in use. */
  readonly rows: Uint32Array;
  length: number;
}

/**
 * Rows (small integers) sorted by one value each: larger values first, unknown values last, equal values by id. Rows are
 * stored in sorted blocks, so moving one of 300,000 rows takes a few microseconds, and a walk from any position starts
 * after about twenty comparisons. Nothing is sorted before the first walk or `prepare`, which makes the initial fill
 * cheap. Decision 0007 compares this class with a B-tree library.
 */
export class OrderedIndex {
  /** NaN if the row is not in the index. */
  #values = new Float64Array(INITIAL_ROWS).fill(Number.NaN);
  #blocks: Block[] | null = null;
  readonly #idOf: (row: number) => string;
  readonly #blockRowsMax: number;

  /**
   * @param idOf  id that orders rows of equal value; must not change while the row is in the index
   * @param blockRowsMax  block size; tests use small blocks, which split and merge often
   */
  constructor(idOf: (row: number) => string, blockRowsMax = BLOCK_ROWS_MAX) {
    this.#idOf = idOf;
    this.#blockRowsMax = blockRowsMax;
  }

  /** The row's value; null if it is unknown or the row is not in the index. */
  value(row: number): number | null {
    const value = this.#values[row];
    return value === undefined || Number.isNaN(value) || value === UNKNOWN ? null : value;
  }

  set(row: number, value: number | null): void {
    const next = value === null || Number.isNaN(value) ? UNKNOWN : value;
    if (row >= this.#values.length) this.#grow(row + 1);
    const current = this.#values[row];
    if (current === next) return;
    if (current !== undefined && !Number.isNaN(current)) this.#remove(row);
    this.#values[row] = next;
    this.#insert(row);
  }

  delete(row: number): void {
    const current = this.#values[row];
    if (current === undefined || Number.isNaN(current)) return;
    this.#remove(row);
    this.#values[row] = Number.NaN;
  }

  /**
   * Sorts the rows set so far. Without this call the first walk sorts them, which takes longer.
   *
   * @param rowsById  rows sorted by id, including at least every row of the index
   */
  prepare(rowsById: readonly number[]): void {
    if (this.#blocks !== null) return;
    const rows = Uint32Array.from(rowsById.filter((row) => !Number.isNaN(this.#values[row] ?? Number.NaN)));
    const values = this.#values;
    // The sort is stable, so rows of equal value stay sorted by id.
    this.#fill(
      rows.sort((a, b) => {
        const [x, y] = [values[a] ?? UNKNOWN, values[b] ?? UNKNOWN];
        return x === y ? 0 : x > y ? -1 : 1;
      }),
    );
  }

  /**
   * Visits the rows after a position, or all rows, in order, until `visit` returns false. The index must not be changed
   * during the walk.
   */
  walk(after: OrderedPosition | null, visit: (row: number) => boolean): void {
    const blocks = this.#sortedBlocks();
    let blockIndex = 0;
    let index = 0;
    if (after !== null) {
      const value = after.value ?? UNKNOWN;
      blockIndex = this.#findBlock(blocks, value, after.id);
      const block = blocks[blockIndex];
      if (block === undefined) return;
      index = this.#findInBlock(block, value, after.id);
      // The row at the position itself is excluded.
      const row = index < block.length ? block.rows[index] : undefined;
      if (row !== undefined && this.#values[row] === value && this.#idOf(row) === after.id) index += 1;
    }
    for (; blockIndex < blocks.length; blockIndex++, index = 0) {
      const block = blocks[blockIndex];
      if (block === undefined) return;
      const { rows, length } = block;
      for (; index < length; index++) if (!visit(rows[index] as number)) return;
    }
  }

  /** Comparator for sorting rows of the index: negative if `a` comes before `b`. */
  compare(a: number, b: number): number {
    const [x, y] = [this.#values[a] ?? UNKNOWN, this.#values[b] ?? UNKNOWN];
    if (x !== y) return x > y ? -1 : 1;
    if (a === b) return 0;
    return this.#idOf(a) < this.#idOf(b) ? -1 : 1;
  }

  isAfter(row: number, position: OrderedPosition): boolean {
    const value = position.value ?? UNKNOWN;
    const rowValue = this.#values[row] ?? UNKNOWN;
    return rowValue < value || (rowValue === value && this.#idOf(row) > position.id);
  }

  #sortedBlocks(): Block[] {
    if (this.#blocks !== null) return this.#blocks;
    const rows: number[] = [];
    for (let row = 0; row < this.#values.length; row++) if (!Number.isNaN(this.#values[row])) rows.push(row);
    return this.#fill(Uint32Array.from(rows).sort((a, b) => this.compare(a, b)));
  }

  #fill(sorted: Uint32Array): Block[] {
    const blocks: Block[] = [];
    // Blocks start half full; otherwise the first inserts would split every block.
    const step = Math.ceil(this.#blockRowsMax / 2);
    for (let start = 0; start < sorted.length; start += step)
      blocks.push(this.#newBlock(sorted.subarray(start, start + step)));
    this.#blocks = blocks;
    return blocks;
  }

  #insert(row: number): void {
    const blocks = this.#blocks;
    if (blocks === null) return;
    const value = this.#values[row] ?? UNKNOWN;
    const id = this.#idOf(row);
    const blockIndex = this.#findBlock(blocks, value, id);
    let block = blocks[blockIndex];
    if (block === undefined) {
      block = this.#newBlock(new Uint32Array(0));
      blocks.push(block);
    }
    const index = this.#findInBlock(block, value, id);
    block.rows.copyWithin(index + 1, index, block.length);
    block.rows[index] = row;
    block.length += 1;
    if (block.length < this.#blockRowsMax) return;
    const half = block.length >> 1;
    blocks.splice(blockIndex + 1, 0, this.#newBlock(block.rows.subarray(half, block.length)));
    block.length = half;
  }

  #newBlock(rows: Uint32Array): Block {
    const block: Block = { rows: new Uint32Array(this.#blockRowsMax), length: rows.length };
    block.rows.set(rows);
    return block;
  }

  #remove(row: number): void {
    const blocks = this.#blocks;
    if (blocks === null) return;
    const value = this.#values[row] ?? UNKNOWN;
    const id = this.#idOf(row);
    const blockIndex = this.#findBlock(blocks, value, id);
    const block = blocks[blockIndex];
    const index = block === undefined ? 0 : this.#findInBlock(block, value, id);
    if (block === undefined || index >= block.length || block.rows[index] !== row)
      throw new Error("The id of a row changed while the row was in the index");
    block.rows.copyWithin(index, index + 1, block.length);
    block.length -= 1;
    const next = blocks[blockIndex + 1];
    if (next !== undefined && block.length + next.length <= this.#blockRowsMax * MERGED_SHARE_MAX) {
      block.rows.set(next.rows.subarray(0, next.length), block.length);
      block.length += next.length;
      blocks.splice(blockIndex + 1, 1);
    } else if (block.length === 0) blocks.splice(blockIndex, 1);
  }

  /** Index of the last block whose first row is at or before the position. */
  #findBlock(blocks: readonly Block[], value: number, id: string): number {
    let low = 0;
    let high = blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#isBefore(blocks[middle]?.rows[0] ?? 0, value, id)) low = middle;
      else high = middle - 1;
    }
    const next = blocks[low + 1]?.rows[0];
    return next !== undefined && this.#values[next] === value && this.#idOf(next) === id ? low + 1 : low;
  }

  /** Number of rows in the block before the position. */
  #findInBlock({ rows, length }: Block, value: number, id: string): number {
    let low = 0;
    let high = length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#isBefore(rows[middle] ?? 0, value, id)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #isBefore(row: number, value: number, id: string): boolean {
    const rowValue = this.#values[row] ?? UNKNOWN;
    return rowValue > value || (rowValue === value && this.#idOf(row) < id);
  }

  #grow(rows: number): void {
    const values = new Float64Array(Math.max(rows, this.#values.length * 2)).fill(Number.NaN);
    values.set(this.#values);
    this.#values = values;
  }
}
