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
 * A file of 16-byte slots: block id (8 bytes), units spent (4), and their complement (4), which detects torn and foreign
 * entries. Each slot is written by one `pwrite`, so it survives the process, but not a power cut, as with the embedded
 * store. Units spent in one event-loop iteration are written together at its end: one write per call would take a fifth
 * of the call's time.
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
  /** Entries to write, by slot. */
  const dirty = new Map<number, JournalEntry>();
  /** Settles when `dirty` was written. */
  let pendingWrite: PromiseWithResolvers<void> | null = null;
  const writeSlot = (slot: number, { blockId, spent }: JournalEntry) => {
    // Two 32-bit halves, because a BigInt would be allocated for every counted call.
    bytes.writeUInt32LE(blockId % UINT32, 0);
    bytes.writeUInt32LE(Math.floor(blockId / UINT32), 4);
    bytes.writeInt32LE(spent, 8);
    bytes.writeInt32LE(~spent, 12);
    writeSync(fd, bytes, 0, ENTRY_BYTES, slot * ENTRY_BYTES);
  };
  const flush = () => {
    const finished = pendingWrite;
    pendingWrite = null;
    try {
      for (const [slot, entry] of dirty) writeSlot(slot, entry);
      dirty.clear();
      finished?.resolve();
    } catch (error) {
      // The entries stay in `dirty` for the next flush.
      finished?.reject(new AppError("store_unavailable", "Calls cannot be counted at the moment.", { cause: error }));
    }
  };
  return {
    recovered,
    predecessor,
    clear(nodeId) {
      // Atomic, and before the first block is opened.
      writeFileSync(`${ownerPath}.new`, nodeId, { mode: 0o600 });
      renameSync(`${ownerPath}.new`, ownerPath);
      ftruncateSync(fd, 0);
      isClear = true;
    },
    open(blockId) {
      if (!isClear) throw new Error("the quota journal of the previous process is not settled yet");
      const slot = free.at(-1) ?? (opened < SLOTS_MAX ? opened : null);
      if (slot === null) return null;
      // If the write throws, the slot stays free.
      writeSlot(slot, { blockId, spent: 0 });
      if (free.pop() === undefined) opened += 1;
      return slot;
    },
    write(slot, entry) {
      dirty.set(slot, entry);
      if (pendingWrite !== null) return;
      pendingWrite = Promise.withResolvers();
      // Callers need not await it, and an unhandled rejection would end the process.
      pendingWrite.promise.catch(() => {});
      atEndOfLoopIteration(flush);
    },
    committed: () => pendingWrite?.promise,
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

/** The valid entries, without slots that are unused, closed or torn. */
function readEntries(content: Buffer): JournalEntry[] {
  const entries: JournalEntry[] = [];
  for (let at = 0; at + ENTRY_BYTES <= content.length; at += ENTRY_BYTES) {
    const blockId = Number(content.readBigInt64LE(at));
    const spent = content.readInt32LE(at + 8);
    if (blockId > 0 && spent >= 0 && content.readInt32LE(at + 12) === ~spent) entries.push({ blockId, spent });
  }
  return entries;
}
