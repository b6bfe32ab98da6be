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

const JOURNAL_FILE = "quota-journal";
const OWNER_FILE = "owner";
const ENTRY_BYTES = 16;
const SLOTS_MAX = 65_536;
const UINT32_RANGE = 2 ** 32;

/**
 * A file of 16-byte slots: block id (8 bytes), units spent (4), and the bitwise complement of the units (4), which
 * detects partially written and invalid entries. Each slot is written by one `pwrite`, so it survives a crash of the
 * process but not a power failure. Units spent in one event-loop iteration are written together at its end, because one
 * write per API call would take a fifth of the call's time.
 */
export function openQuotaJournal(dataDir: string): QuotaJournal {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, JOURNAL_FILE);
  const file = openSync(path, "a+", 0o600);
  closeSync(file);
  const recovered = readEntries(readFileSync(path));
  const fd = openSync(path, "r+");
  const freeSlots: number[] = [];
  let slotCount = 0;
  const ownerPath = join(dataDir, OWNER_FILE);
  const predecessor = existsSync(ownerPath) ? readFileSync(ownerPath, "utf8") : null;
  let isCleared = false;
  const slotBytes = Buffer.alloc(ENTRY_BYTES);
  /** Entries to write, by slot. */
  const dirtyEntries = new Map<number, JournalEntry>();
  /** Settles when the entries in `dirtyEntries` are written. */
  let pendingWrite: PromiseWithResolvers<void> | null = null;
  const writeSlot = (slot: number, { blockId, spent }: JournalEntry) => {
    // Two 32-bit halves, because a BigInt would be allocated for every counted call.
    slotBytes.writeUInt32LE(blockId % UINT32_RANGE, 0);
    slotBytes.writeUInt32LE(Math.floor(blockId / UINT32_RANGE), 4);
    slotBytes.writeInt32LE(spent, 8);
    slotBytes.writeInt32LE(~spent, 12);
    writeSync(fd, slotBytes, 0, ENTRY_BYTES, slot * ENTRY_BYTES);
  };
  const flush = () => {
    const finished = pendingWrite;
    pendingWrite = null;
    try {
      for (const [slot, entry] of dirtyEntries) writeSlot(slot, entry);
      dirtyEntries.clear();
      finished?.resolve();
    } catch (error) {
      // The entries stay in `dirtyEntries` for the next flush.
      finished?.reject(new AppError("store_unavailable", "Calls cannot be counted at the moment.", { cause: error }));
    }
  };
  return {
    recovered,
    predecessor,
    clear(nodeId) {
      // The rename changes the owner atomically.
      writeFileSync(`${ownerPath}.new`, nodeId, { mode: 0o600 });
      renameSync(`${ownerPath}.new`, ownerPath);
      ftruncateSync(fd, 0);
      isCleared = true;
    },
    open(blockId) {
      if (!isCleared) throw new Error("the quota journal of the previous process is not settled yet");
      const slot = freeSlots.at(-1) ?? (slotCount < SLOTS_MAX ? slotCount : null);
      if (slot === null) return null;
      // The slot is reserved after the write, so it stays free if the write throws.
      writeSlot(slot, { blockId, spent: 0 });
      if (freeSlots.pop() === undefined) slotCount += 1;
      return slot;
    },
    write(slot, entry) {
      dirtyEntries.set(slot, entry);
      if (pendingWrite !== null) return;
      pendingWrite = Promise.withResolvers();
      // Callers need not await `committed`, and an unhandled rejection would end the process.
      pendingWrite.promise.catch(() => {});
      atEndOfLoopIteration(flush);
    },
    committed: () => pendingWrite?.promise,
    close(slot) {
      dirtyEntries.delete(slot);
      slotBytes.fill(0);
      writeSync(fd, slotBytes, 0, ENTRY_BYTES, slot * ENTRY_BYTES);
      freeSlots.push(slot);
    },
    end() {
      flush();
      closeSync(fd);
    },
  };
}

/** Returns the valid entries. Skips slots that are unused, closed or torn. */
function readEntries(content: Buffer): JournalEntry[] {
  const entries: JournalEntry[] = [];
  for (let offset = 0; offset + ENTRY_BYTES <= content.length; offset += ENTRY_BYTES) {
    const blockId = Number(content.readBigInt64LE(offset));
    const spent = content.readInt32LE(offset + 8);
    if (blockId > 0 && spent >= 0 && content.readInt32LE(offset + 12) === ~spent) entries.push({ blockId, spent });
  }
  return entries;
}
