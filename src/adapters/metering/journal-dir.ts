import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type FileLock, tryLockFile } from "../system/file-lock.ts";

/** As many processes may share one data directory. */
const PLACES_MAX = 64;

/** A folder that this process alone keeps its journal in. */
export interface JournalDir extends FileLock {
  readonly path: string;
}

/**
 * The first folder below the data directory that no living process uses: several nodes on one machine may share the
 * directory, and a journal is one process's. What a dead one left in it is the next one's to settle.
 */
export function lockJournalDir(dataDir: string): JournalDir {
  for (let place = 0; place < PLACES_MAX; place++) {
    const path = join(dataDir, "quota", String(place));
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const lock = tryLockFile(join(path, "lock"));
    if (lock !== null) return { path, ...lock };
  }
  throw new Error(`more than ${PLACES_MAX} processes use the data directory ${dataDir}: give some one of their own`);
}
