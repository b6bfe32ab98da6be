import type { JournalEntry, QuotaJournal } from "../../ports/quota-journal.ts";
import type { QuotaAccount } from "./quota-store.ts";

/** Quota units that the store has granted to this node. */
export interface Block {
  /** Null for a single unit, which the store counts as used when it grants it. */
  readonly blockId: number | null;
  readonly size: number;
  /** First day of the month that the units belong to, for example "2026-11-01". */
  readonly month: string;
  /** Monotonic timestamp at which the month ends. */
  readonly monthEndsAt: number;
  /** Journal slot; null for a single unit. */
  readonly slot: number | null;
  spent: number;
  /** The spent units last reported to the store, and the monotonic timestamp of that report. */
  lastReport: { readonly spent: number; readonly at: number };
  /** Units can still be taken from the block and returned to it. */
  isOpen: boolean;
}

/** The units that this node holds for one account. */
export interface AccountState {
  readonly account: QuotaAccount;
  currentBlock: Block | null;
  /** Blocks to use after the current one. Only busy accounts have any. */
  readonly reserveBlocks: Block[];
  /** Monotonic timestamp of the last grant. */
  grantedAt: number;
  /** Month of the last grant, for example "2026-11-01"; empty before the first grant. */
  grantedMonth: string;
  /** Blocks requested with the last grant. */
  blocksRequested: number;
  /** A busy account requests more blocks when this many units remain, so that its calls do not wait for the store. */
  prefetchAtUnits: number;
  /** The limit at the last grant. */
  limit: number;
  /** Units of the month that were spent or in blocks of any node at the last grant. */
  takenUnits: number;
  /** Monotonic timestamp of the last unit taken. */
  usedAt: number;
  /** Set when the store had no units left. The store is not queried again before `retryAt`. */
  exhausted: { readonly retryAt: number; readonly monthEndsAt: number; readonly resetsOn: string } | null;
  /** The request for blocks in progress. */
  pendingGrant: Promise<void> | null;
}

export function blocksOf({ currentBlock, reserveBlocks }: AccountState): readonly Block[] {
  return currentBlock === null ? reserveBlocks : [currentBlock, ...reserveBlocks];
}

export function writeToJournal(journal: QuotaJournal, { blockId, slot, spent }: Block): void {
  if (blockId !== null && slot !== null) journal.write(slot, { blockId, spent });
}

/** @throws Error for a single unit: it has no id and is never reported */
export function journalEntryOf({ blockId, spent }: Block): JournalEntry {
  if (blockId === null) throw new Error("a single unit is settled when it is taken");
  return { blockId, spent };
}
