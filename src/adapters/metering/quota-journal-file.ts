import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { AppError } from "../../domain/errors.ts";
import type { JournalEntry, QuotaJournal } from "../../ports/quota-journal.ts";
import { atEndOfLoopIteration } from "../system/system-clock.ts";

const FILE = "quota-journal";
const OWNER_FILE = "owner";
const ENTRY_BYTES = 16;
const SLOTS_MAX = 65_536;
const UINT32 = 2 ** 32;

/**
 * A file of 16-byte places: block id (8 bytes), units spent (4), and their complement (4) by which a torn or foreign
 * entry is told. Each is written by one `pwrite`, so it outlives the process; a power cut is not covered, as with the
 * embedded store. What is spent in one round of the event loop is written together at its end: a write for each call
 * would be a fifth of what the call costs.
 */
export function openQuotaJournal(dataDir: string): QuotaJournal {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, FILE);
  const file = openSync(path, "a+", 0o600);
  closeSync(file);
  const recovered = readEntries(readFileSync(path));
  const fd = openSync(path, "r+");
  const free: number[] = [];
  let opened = 0;
  const ownerPath = join(dataDir, OWNER_FILE);
  const predecessor = existsSync(ownerPath) ? readFileSync(ownerPath, "utf8") : null;
  let isClear = false;
  const bytes = Buffer.alloc(ENTRY_BYTES);
  /** What each place is to say, and the round's end, for whoever waits for it. */
  const dirty = new Map<number, JournalEntry>();
  let round: PromiseWithResolvers<void> | null = null;
  const put = (slot: number, { blockId, spent }: JournalEntry) => {
    // In two halves: a BigInt would be made for every call that is counted.
    bytes.writeUInt32LE(blockId % UINT32, 0);
    bytes.writeUInt32LE(Math.floor(blockId / UINT32), 4);
    bytes.writeInt32LE(spent, 8);
    bytes.writeInt32LE(~spent, 12);
    writeSync(fd, bytes, 0, ENTRY_BYTES, slot * ENTRY_BYTES);
  };
  const flush = () => {
    const waiting = round;
    round = null;
    try {
      for (const [slot, entry] of dirty) put(slot, entry);
      dirty.clear();
      waiting?.resolve();
    } catch (error) {
      // It stays to be written, with what comes next.
      waiting?.reject(new AppError("store_unavailable", "Calls cannot be counted at the moment.", { cause: error }));
    }
  };
  return {
    ...{ recovered, predecessor },
    clear(nodeId) {
      // Whole or not at all, and before anything is taken in its name.
      writeFileSync(`${ownerPath}.new`, nodeId, { mode: 0o600 });
      renameSync(`${ownerPath}.new`, ownerPath);
      ftruncateSync(fd, 0);
      isClear = true;
    },
    open(blockId) {
      if (!isClear) throw new Error("what an earlier process left in the quota journal is not settled yet");
      const slot = free.at(-1) ?? (opened < SLOTS_MAX ? opened : null);
      if (slot === null) return null;
      // Where it cannot be written the place is still free.
      put(slot, { blockId, spent: 0 });
      if (free.pop() === undefined) opened += 1;
      return slot;
    },
    write(slot, entry) {
      dirty.set(slot, entry);
      if (round !== null) return;
      round = Promise.withResolvers();
      // Somebody may write and not wait; that must not end the process.
      round.promise.catch(() => {});
      atEndOfLoopIteration(flush);
    },
    committed: () => round?.promise,
    close(slot) {
      dirty.delete(slot);
      bytes.fill(0);
      writeSync(fd, bytes, 0, ENTRY_BYTES, slot * ENTRY_BYTES);
      free.push(slot);
    },
    end() {
      flush();
      closeSync(fd);
    },
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
