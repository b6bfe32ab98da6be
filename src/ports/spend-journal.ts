/** What a node has spent of a block of quota units, as its journal knows it. */
export interface JournalEntry {
  readonly blockId: number;
  readonly spent: number;
}

/**
 * A node's own record of what it spends, durable against its sudden end before an answer goes out. The store hears of it
 * later and in bulk.
 */
export interface SpendJournal {
  /** What an earlier process left behind; the caller settles it with the store and then calls `clear`. */
  readonly recovered: readonly JournalEntry[];
  clear(): void;
  /** A place for a block's count, or null when all are taken: what is unspent of such a block is lost with the process. */
  open(blockId: number): number | null;
  /** Records how much of the block in this place is spent. Returns when the operating system has it. */
  write(slot: number, entry: JournalEntry): void;
  close(slot: number): void;
  end(): void;
}
