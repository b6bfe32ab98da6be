import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isObject } from "../../lib/is-object.ts";
import { UserFacingError } from "../../lib/user-facing-error.ts";
import { tryLockFile } from "./file-lock.ts";

const LOCK_FILE = "lock";
const OWNER_FILE = "lock-owner.json";

/** Thrown if another process uses the data directory. */
export class DataDirLockedError extends UserFacingError {
  readonly dataDir: string;
  /** Process id of the holder; null until the holder has written its owner file. */
  readonly pid: number | null;

  constructor(dataDir: string, pid: number | null) {
    const holder = pid === null ? "another process" : `another process (pid ${pid})`;
    super(
      `The data directory ${dataDir} is in use by ${holder}: stop that process, or choose another directory with PARALLAX_DATA_DIR.`,
    );
    this.name = "DataDirLockedError";
    this.dataDir = dataDir;
    this.pid = pid;
  }
}

/** Returns the process id that the holder of the directory has written; null if there is none. */
export async function readOwnerPid(dataDir: string): Promise<number | null> {
  try {
    const owner: unknown = JSON.parse(await readFile(join(dataDir, OWNER_FILE), "utf8"));
    const pid = isObject(owner) ? owner.pid : null;
    return typeof pid === "number" && Number.isSafeInteger(pid) ? pid : null;
  } catch {
    return null;
  }
}

/**
 * Locks the directory for this process, or throws `DataDirLockedError` without changing it. The owner file is only used
 * for the error message.
 */
export async function acquireDataDirLock(directory: string): Promise<{ release(): Promise<void> }> {
  const dataDir = resolve(directory);
  const lock = tryLockFile(join(dataDir, LOCK_FILE));
  if (lock === null) throw new DataDirLockedError(dataDir, await readOwnerPid(dataDir));
  const draftPath = join(dataDir, `${OWNER_FILE}.new`);
  await writeFile(draftPath, `${JSON.stringify({ pid: process.pid })}\n`, { mode: 0o600 });
  await rename(draftPath, join(dataDir, OWNER_FILE));
  let isReleased = false;
  return {
    async release() {
      if (isReleased) return;
      isReleased = true;
      await rm(join(dataDir, OWNER_FILE), { force: true });
      lock.release();
    },
  };
}
