import { copyInto } from "../lib/numbers.ts";

const INITIAL_ROWS = 1_024;
const BLOCK_ROWS_MAX = 1_024;
/** Two adjacent blocks are merged if together they fill at most this share of one block. */
const MERGED_SHARE_MAX = 0.625;
/** Represents an unknown value, which sorts after every known value. */
const UNKNOWN_VALUE = Number.NEGATIVE_INFINITY;

/** A position in the sort order: larger values first, equal values by id. */
export interface OrderedPosition {
  readonly value: number | null;
  readonly id: string;
}

interface Block {
  /** Sorted rows. Only the first `length` elements are in use. */
  readonly rows: Uint32Array;
  length: number;
}

interface BlockPosition {
  readonly block: number;
  readonly index: number;
}

const FIRST_POSITION: BlockPosition = { block: 0, index: 0 };

/** Visits the rows from before `start` down to `end`, until `visit` returns false. Returns whether all were visited. */
function visitBackwards(
  blocks: readonly Block[],
  start: BlockPosition,
  end: BlockPosition,
  visit: (row: number) => boolean,
): boolean {
  for (let blockIndex = start.block; blockIndex >= end.block; blockIndex--) {
    const block = blocks[blockIndex];
    if (block === undefined) continue;
    const from = blockIndex === start.block ? start.index : block.length;
    const until = blockIndex === end.block ? end.index : 0;
    for (let index = from - 1; index >= until; index--) if (!visit(block.rows[index] as number)) return false;
  }
  return true;
}

/**
 * Rows (small integers) sorted by one value each: larger values first, unknown values last, equal values by id. Rows
 * are stored in sorted blocks, so moving one of 300,000 rows takes a few microseconds, and a walk from any position
 * starts after about twenty comparisons. Rows are not sorted before the first walk or `prepare`, so the initial fill is
 * fast. Decision 0007 compares this class with a B-tree library.
 */
export class OrderedIndex {
  /** Value of each row; NaN if the row is not in the index. */
  #values = new Float64Array(INITIAL_ROWS).fill(Number.NaN);
  #blocks: Block[] | null = null;
  readonly #idOf: (row: number) => string;
  readonly #blockRowsMax: number;

  /**
   * @param idOf  returns the id of a row, which orders rows of equal value and must not change while the row is indexed
   * @param blockRowsMax  maximum rows per block; tests use small blocks, because these split and merge often
   */
  constructor(idOf: (row: number) => string, blockRowsMax = BLOCK_ROWS_MAX) {
    this.#idOf = idOf;
    this.#blockRowsMax = blockRowsMax;
  }

  /** Returns the value of a row, or null if the value is unknown or the row is not in the index. */
  value(row: number): number | null {
    const value = this.#values[row];
    return value === undefined || Number.isNaN(value) || value === UNKNOWN_VALUE ? null : value;
  }

  set(row: number, value: number | null): void {
    const next = value === null || Number.isNaN(value) ? UNKNOWN_VALUE : value;
    if (row >= this.#values.length) this.#grow(row + 1);
    const currentValue = this.#values[row];
    if (currentValue === next) return;
    if (currentValue !== undefined && !Number.isNaN(currentValue)) this.#remove(row);
    this.#values[row] = next;
    this.#insert(row);
  }

  delete(row: number): void {
    const currentValue = this.#values[row];
    if (currentValue === undefined || Number.isNaN(currentValue)) return;
    this.#remove(row);
    this.#values[row] = Number.NaN;
  }

  /**
   * Sorts the rows of the index. Otherwise the first walk sorts them, which is slower.
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
        const [x, y] = [values[a] ?? UNKNOWN_VALUE, values[b] ?? UNKNOWN_VALUE];
        return x === y ? 0 : x > y ? -1 : 1;
      }),
    );
  }

  /**
   * Visits the rows after a position, or all rows, in order, until `visit` returns false. The index must not be changed
   * during the walk.
   *
   * @param isReversed  smaller values first, equal values by descending id. Unknown values are last here as well
   */
  walk(after: OrderedPosition | null, visit: (row: number) => boolean, isReversed = false): void {
    const blocks = this.#sortedBlocks();
    if (isReversed) {
      this.#walkReversed(blocks, after, visit);
      return;
    }
    let { block: blockIndex, index } = FIRST_POSITION;
    if (after !== null) {
      const value = after.value ?? UNKNOWN_VALUE;
      ({ block: blockIndex, index } = this.#positionOf(blocks, value, after.id));
      // Skip the row at the position: the walk starts after it.
      const block = blocks[blockIndex];
      const row = block !== undefined && index < block.length ? block.rows[index] : undefined;
      if (row !== undefined && this.#values[row] === value && this.#idOf(row) === after.id) index += 1;
    }
    for (; blockIndex < blocks.length; blockIndex++, index = 0) {
      const block = blocks[blockIndex];
      if (block === undefined) return;
      const { rows, length } = block;
      for (; index < length; index++) if (!visit(rows[index] as number)) return;
    }
  }

  #walkReversed(blocks: readonly Block[], after: OrderedPosition | null, visit: (row: number) => boolean): void {
    const unknown = this.#positionOf(blocks, UNKNOWN_VALUE, "");
    const afterValue = after?.value ?? UNKNOWN_VALUE;
    const start = after === null ? unknown : this.#positionOf(blocks, afterValue, after.id);
    const isInUnknown = after !== null && after.value === null;
    if (!isInUnknown && !visitBackwards(blocks, start, FIRST_POSITION, visit)) return;
    const last = { block: blocks.length, index: 0 };
    visitBackwards(blocks, isInUnknown ? start : last, unknown, visit);
  }

  /** Comparator for sorting rows of the index in the order of `walk`: negative if `a` comes before `b`. */
  compare(a: number, b: number, isReversed = false): number {
    if (a === b) return 0;
    return this.#precedes(this.#valueOf(a), this.#idOf(a), this.#valueOf(b), this.#idOf(b), isReversed) ? -1 : 1;
  }

  /** Whether `walk` visits the row after the position. */
  isAfter(row: number, { value, id }: OrderedPosition, isReversed = false): boolean {
    return this.#precedes(value ?? UNKNOWN_VALUE, id, this.#valueOf(row), this.#idOf(row), isReversed);
  }

  #precedes(value: number, id: string, otherValue: number, otherId: string, isReversed: boolean): boolean {
    if (value === otherValue) return isReversed ? id > otherId : id < otherId;
    if (!isReversed || value === UNKNOWN_VALUE || otherValue === UNKNOWN_VALUE) return value > otherValue;
    return value < otherValue;
  }

  #valueOf(row: number): number {
    return this.#values[row] ?? UNKNOWN_VALUE;
  }

  #sortedBlocks(): Block[] {
    if (this.#blocks !== null) return this.#blocks;
    const rows: number[] = [];
    for (let row = 0; row < this.#values.length; row++) if (!Number.isNaN(this.#values[row])) rows.push(row);
    return this.#fill(Uint32Array.from(rows).sort((a, b) => this.compare(a, b)));
  }

  #fill(sorted: Uint32Array): Block[] {
    const blocks: Block[] = [];
    // Blocks are filled to one half; otherwise the first inserts would split every block.
    const initialBlockRows = Math.ceil(this.#blockRowsMax / 2);
    for (let start = 0; start < sorted.length; start += initialBlockRows)
      blocks.push(this.#createBlock(sorted.subarray(start, start + initialBlockRows)));
    this.#blocks = blocks;
    return blocks;
  }

  #insert(row: number): void {
    const blocks = this.#blocks;
    if (blocks === null) return;
    const value = this.#values[row] ?? UNKNOWN_VALUE;
    const id = this.#idOf(row);
    const blockIndex = this.#findBlock(blocks, value, id);
    let block = blocks[blockIndex];
    if (block === undefined) {
      block = this.#createBlock(new Uint32Array(0));
      blocks.push(block);
    }
    const index = this.#findInBlock(block, value, id);
    block.rows.copyWithin(index + 1, index, block.length);
    block.rows[index] = row;
    block.length += 1;
    if (block.length < this.#blockRowsMax) return;
    const halfLength = block.length >> 1;
    blocks.splice(blockIndex + 1, 0, this.#createBlock(block.rows.subarray(halfLength, block.length)));
    block.length = halfLength;
  }

  #createBlock(rows: Uint32Array): Block {
    const block: Block = { rows: new Uint32Array(this.#blockRowsMax), length: rows.length };
    block.rows.set(rows);
    return block;
  }

  #remove(row: number): void {
    const blocks = this.#blocks;
    if (blocks === null) return;
    const value = this.#values[row] ?? UNKNOWN_VALUE;
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

  /** Returns the position of the first row at or after the given value and id. */
  #positionOf(blocks: readonly Block[], value: number, id: string): BlockPosition {
    const blockIndex = this.#findBlock(blocks, value, id);
    const block = blocks[blockIndex];
    return { block: blockIndex, index: block === undefined ? 0 : this.#findInBlock(block, value, id) };
  }

  /** Returns the index of the last block whose first row is at or before the position, or 0 if there is none. */
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

  /** Returns the number of rows of the block that are before the position. */
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
    const rowValue = this.#values[row] ?? UNKNOWN_VALUE;
    return rowValue > value || (rowValue === value && this.#idOf(row) < id);
  }

  #grow(rows: number): void {
    const length = Math.max(rows, this.#values.length * 2);
    this.#values = copyInto(new Float64Array(length).fill(Number.NaN), this.#values);
  }
}
