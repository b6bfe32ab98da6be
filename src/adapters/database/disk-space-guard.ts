import { statfs } from "node:fs/promises";
import type { Log } from "../../ports/log.ts";
import { storeUnavailable } from "./errors.ts";

/** Minimum time between two checks of the free space. The store cannot use up the reserve in this time. */
const CHECK_EVERY_MS = 250;
const MIB = 2 ** 20;

/** Statements that do not write. `with` statements are checked by `WRITING_KEYWORDS_PATTERN`. */
const READING_PATTERN = /^\s*(?:select|show|values|explain|begin|start|commit|rollback|set)\b/i;
const WITH_PATTERN = /^\s*with\b/i;
const WRITING_KEYWORDS_PATTERN = /\b(?:insert|update|delete|merge)\b/i;
/** Statements that free space, which are allowed while the disk is full. */
const FREEING_PATTERN = /^\s*(?:drop|truncate)\b/i;

/** Returns whether a statement may use more disk space. */
export function needsDiskSpace(text: string): boolean {
  if (READING_PATTERN.test(text) || FREEING_PATTERN.test(text)) return false;
  return !WITH_PATTERN.test(text) || WRITING_KEYWORDS_PATTERN.test(text);
}

/** Returns the number of bytes available to this process on the file system of a folder, or null if unknown. */
export async function readFreeBytes(folder: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}

/** Throws `AppError("store_unavailable")` for a statement that writes if less than the reserve is free. */
export type DiskSpaceGuard = (text: string) => Promise<void>;

/**
 * Creates a guard that refuses writes before the disk is full. Without space for its write-ahead log, the engine panics
 * and cannot restart.
 *
 * @param options.reserveBytes  free space below which writes are rejected; 0 to reject none
 * @param options.freeBytes     returns null if unknown; writes are then not rejected
 */
export function createDiskSpaceGuard(options: {
  readonly reserveBytes: number;
  readonly freeBytes: () => Promise<number | null>;
  readonly monotonic: () => number;
  readonly log: Log;
}): DiskSpaceGuard {
  const { reserveBytes, freeBytes, monotonic, log } = options;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let runningCheck: Promise<void> | null = null;
  let isFull = false;

  const check = async () => {
    const freeNow = await freeBytes();
    checkedAt = monotonic();
    const wasFull = isFull;
    isFull = freeNow !== null && freeNow < reserveBytes;
    const fields = { free_mib: freeNow === null ? null : Math.floor(freeNow / MIB), reserve_mib: reserveBytes / MIB };
    if (isFull && !wasFull) log.error(fields, "the disk is nearly full: the store refuses writes until space is free");
    if (wasFull && !isFull) log.info(fields, "disk space is free again: the store accepts writes");
  };

  return async (text) => {
    if (reserveBytes === 0 || !needsDiskSpace(text)) return;
    if (monotonic() - checkedAt >= CHECK_EVERY_MS) {
      runningCheck ??= check().finally(() => {
        runningCheck = null;
      });
      await runningCheck;
    }
    if (isFull) throw storeUnavailable("The disk is full: the store refuses writes until space is free.");
  };
}
