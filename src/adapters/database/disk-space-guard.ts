import { statfs } from "node:fs/promises";
import type { Log } from "../../ports/log.ts";
import { storeUnavailable } from "./errors.ts";

/** Asked for no more often than this: in that time the store cannot write more than a part of the reserve. */
const LOOK_EVERY_MS = 250;
const MIB = 2 ** 20;

/** Statements that change nothing; after `with` it depends on what follows. */
const READS = /^\s*(?:select|show|values|explain|begin|start|commit|rollback|set)\b/i;
const READS_WITH = /^\s*with\b/i;
const WRITING_WORDS = /\b(?:insert|update|delete|merge)\b/i;
/** Statements that give space back must run just then. */
const FREES = /^\s*(?:drop|truncate)\b/i;

/** Whether a statement may need more space on the disk. */
export function needsDiskSpace(text: string): boolean {
  if (READS.test(text) || FREES.test(text)) return false;
  return !READS_WITH.test(text) || WRITING_WORDS.test(text);
}

/** Refuses statements that write while the disk is nearly full, so that the engine itself never meets a full one. */
export interface DiskSpaceGuard {
  /** @throws AppError `store_unavailable` for a statement that writes, while less than the reserve is free */
  assertFor(text: string): Promise<void>;
}

/** Bytes that this process may still write to the file system of a folder; null where that cannot be told. */
export async function readFreeBytes(folder: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}

/**
 * The engine ends in a panic when its log finds no space, and cannot start again before there is some: with a reserve
 * kept free, reads go on and writes are merely refused.
 *
 * @param options.reserveBytes  0 never refuses
 * @param options.freeBytes     null when unknown, which refuses nothing
 */
export function createDiskSpaceGuard(options: {
  readonly reserveBytes: number;
  readonly freeBytes: () => Promise<number | null>;
  readonly monotonic: () => number;
  readonly log: Log;
}): DiskSpaceGuard {
  const { reserveBytes, freeBytes, monotonic, log } = options;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | null = null;
  let isFull = false;

  const look = async () => {
    const free = await freeBytes();
    lookedAt = monotonic();
    const wasFull = isFull;
    isFull = free !== null && free < reserveBytes;
    const fields = { free_mib: free === null ? null : Math.floor(free / MIB), reserve_mib: reserveBytes / MIB };
    if (isFull && !wasFull) log.error(fields, "the disk is nearly full: the store takes no writes until there is room");
    if (wasFull && !isFull) log.info(fields, "there is room on the disk again: the store takes writes");
  };

  return {
    async assertFor(text) {
      if (reserveBytes === 0 || !needsDiskSpace(text)) return;
      if (monotonic() - lookedAt >= LOOK_EVERY_MS) {
        looking ??= look().finally(() => {
          looking = null;
        });
        await looking;
      }
      if (isFull) throw storeUnavailable("The disk is full: the store takes no writes until there is room.");
    },
  };
}
