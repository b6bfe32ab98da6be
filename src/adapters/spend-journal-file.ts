import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { JournalEntry, SpendJournal } from "../ports/spend-journal.ts";

const FILE = "quota-journal";
const ENTRY_BYTES = 16;
const SLOTS_MAX = 65_536;

/**
 * A file of 16-byte places: block id (8 bytes), units spent (4), and their complement (4) by which a torn or foreign
 * entry is told. Each is written by one `pwrite`, so it outlives the process; a power cut is not covered, as with the
 * embedded store.
 */
export function openSpendJournal(dataDir: string): SpendJournal {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, FILE);
  const file = openSync(path, "a+", 0o600);
  closeSync(file);
  const recovered = readEntries(readFileSync(path));
  const fd = openSync(path, "r+");
  const free: number[] = [];
  let opened = 0;
  let isClear = recovered.length === 0;
  const bytes = Buffer.alloc(ENTRY_BYTES);
  const put = (slot: number, { blockId, spent }: JournalEntry) => {
    bytes.writeBigInt64LE(BigInt(blockId), 0);
    bytes.writeInt32LE(spent, 8);
    bytes.writeInt32LE(~spent, 12);
    writeSync(fd, bytes, 0, ENTRY_BYTES, slot * ENTRY_BYTES);
  };
  return {
    recovered,
    clear() {
      ftruncateSync(fd, 0);
      isClear = true;
    },
    open(blockId) {
      if (!isClear) throw new Error("what an earlier process left in the quota journal is not settled yet");
      const slot = free.pop() ?? (opened < SLOTS_MAX ? opened++ : null);
      if (slot !== null) put(slot, { blockId, spent: 0 });
      return slot;
    },
    write: put,
    close(slot) {
      bytes.fill(0);
      writeSync(fd, bytes, 0, ENTRY_BYTES, slot * ENTRY_BYTES);
      free.push(slot);
    },
    end: () => closeSync(fd),
  };
}

/** The entries that are whole; a place never used, closed or torn is none. */
function readEntries(content: Buffer): JournalEntry[] {
  const entries: JournalEntry[] = [];
  for (let at = 0; at + ENTRY_BYTES <= content.length; at += ENTRY_BYTES) {
    const blockId = Number(content.readBigInt64LE(at));
    const spent = content.readInt32LE(at + 8);
    if (blockId > 0 && spent >= 0 && content.readInt32LE(at + 12) === ~spent) entries.push({ blockId, spent });
  }
  return entries;
}
