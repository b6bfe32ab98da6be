import { statfs } from "node:fs/promises";
import type { Log } from "../../ports/log.ts";
import { storeUnavailable } from "./errors.ts";

/** The free space is read at most this often: in this time the store cannot use up the reserve. */
const CHECK_EVERY_MS = 250;
const MIB = 2 ** 20;

/** Statements that write nothing; a `with` statement is checked further. */
const READS = /^\s*(?:select|show|values|explain|begin|start|commit|rollback|set)\b/i;
const READS_WITH = /^\s*with\b/i;
const WRITING_KEYWORDS = /\b(?:insert|update|delete|merge)\b/i;
/** Statements that free space must run while the disk is full. */
const FREES = /^\s*(?:drop|truncate)\b/i;

/** Whether a statement may use more disk space. */
export function needsDiskSpace(text: string): boolean {
  if (READS.test(text) || FREES.test(text)) return false;
  return !READS_WITH.test(text) || WRITING_KEYWORDS.test(text);
}

/** Free bytes for this process on the file system of a folder; null if unknown. */
export async function readFreeBytes(folder: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}

/** Throws `AppError("store_unavailable")` for a statement that writes, while less than the reserve is free. */
export type DiskSpaceGuard = (text: string) => Promise<void>;

/**
 * Without space for its log the engine panics and cannot restart. With a reserve of free space only writes are refused,
 * and reads continue.
 *
 * @param options.reserveBytes  0 never refuses
 * @param options.freeBytes     null if unknown, which refuses nothing
 */
export function createDiskSpaceGuard(options: {
  readonly reserveBytes: number;
  readonly freeBytes: () => Promise<number | null>;
  readonly monotonic: () => number;
  readonly log: Log;
}): DiskSpaceGuard {
  const { reserveBytes, freeBytes, monotonic, log } = options;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let checking: Promise<void> | null = null;
  let isFull = false;

  const check = async () => {
    const free = await freeBytes();
    checkedAt = monotonic();
    const wasFull = isFull;
    isFull = free !== null && free < reserveBytes;
    const fields = { free_mib: free === null ? null : Math.floor(free / MIB), reserve_mib: reserveBytes / MIB };
    if (isFull && !wasFull) log.error(fields, "the disk is nearly full: the store refuses writes until space is free");
    if (wasFull && !isFull) log.info(fields, "disk space is free again: the store accepts writes");
  };

  return async (text) => {
    if (reserveBytes === 0 || !needsDiskSpace(text)) return;
    if (monotonic() - checkedAt >= CHECK_EVERY_MS) {
      checking ??= check().finally(() => {
        checking = null;
      });
      await checking;
    }
    if (isFull) throw storeUnavailable("The disk is full: the store refuses writes until space is free.");
  };
}
