import { mkdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type FileLock, tryLockFile } from "../system/file-lock.ts";

/** Subfolder of the data directory that contains the journal folders. */
const FOLDER = "quota";
/** Maximum number of processes that share one data directory. */
const DIRS_MAX = 64;

/**
 * Locks the first journal folder that no running process uses. Several nodes on one machine may share the data
 * directory. The caller then settles the journal of the process that used the folder before.
 */
export function lockJournalDir(dataDir: string): FileLock & { readonly path: string } {
  for (let index = 0; index < DIRS_MAX; index++) {
    const path = join(dataDir, FOLDER, String(index));
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const lock = tryLockFile(join(path, "lock"));
    if (lock !== null) return { path, ...lock };
  }
  throw new Error(
    `more than ${DIRS_MAX} processes use the data directory ${dataDir}: give some of them another directory`,
  );
}

/** Lists the folders of all processes that use or have used the data directory; empty if there are none. */
export async function listJournalDirs(dataDir: string): Promise<string[]> {
  const names = await readdir(join(dataDir, FOLDER)).catch(() => []);
  return names.slice(0, DIRS_MAX).map((name) => join(dataDir, FOLDER, name));
}
