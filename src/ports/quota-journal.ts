/** The number of units that a node has spent of a quota block. */
export interface JournalEntry {
  readonly blockId: number;
  readonly spent: number;
}

/**
 * A node's local record of the quota units that it spends. It is written before a response is sent, so no counted call
 * is lost in a crash; the store is updated in batches.
 */
export interface QuotaJournal {
  /** Entries of the previous process; the caller settles them with the store, then calls `clear`. */
  readonly recovered: readonly JournalEntry[];
  /**
   * Id of the previous node with this journal; null if none. That node's blocks that are not in `recovered` are
   * unspent.
   */
  readonly predecessor: string | null;
  /** Empties the journal and assigns it to `nodeId`. Must precede the first `open`. */
  clear(nodeId: string): void;
  /**
   * Reserves a slot for a block. Returns null if none is free; the block must not be spent. Throws if it cannot write.
   */
  open(blockId: number): number | null;
  /** Sets the spent units of the block in a slot; durable when `committed` has resolved. */
  write(slot: number, entry: JournalEntry): void;
  /**
   * Resolves when everything written so far is passed to the operating system; undefined if nothing is pending. If it
   * rejects, the call must not be served.
   */
  committed(): Promise<void> | undefined;
  close(slot: number): void;
  end(): void;
}
