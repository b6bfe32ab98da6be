/** What a node has spent of a block of quota units, as its journal knows it. */
export interface JournalEntry {
  readonly blockId: number;
  readonly spent: number;
}

/**
 * A node's own record of what it spends, durable against its sudden end before an answer goes out. The store hears of it
 * later and in bulk.
 */
export interface QuotaJournal {
  /** What an earlier process left behind; the caller settles it with the store and then calls `clear`. */
  readonly recovered: readonly JournalEntry[];
  /** The node that kept this journal before; null where none did. Of its blocks those that are not in `recovered` are unspent. */
  readonly predecessor: string | null;
  /** From now on this is the journal of `nodeId`; before it nothing may be opened. */
  clear(nodeId: string): void;
  /** A place for a block's count, or null when all are taken: nothing may be spent of such a block. Throws where it cannot be written. */
  open(blockId: number): number | null;
  /** Records how much of the block in this place is spent; it counts from `committed` on. */
  write(slot: number, entry: JournalEntry): void;
  /**
   * Resolves when the operating system has all that was written so far, undefined where nothing is to be waited for.
   * Rejects where it cannot be written: what is not recorded is not served.
   */
  committed(): Promise<void> | undefined;
  close(slot: number): void;
  end(): void;
}
