import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { UserFacingError } from "../../lib/user-facing-error.ts";
import { tryLockFile } from "./file-lock.ts";

const LOCK_FILE = "lock";
const OWNER_FILE = "lock-owner.json";

/** Another process works in this data directory. The message is one sentence made to be shown. */
export class DataDirLockedError extends UserFacingError {
  readonly dataDir: string;
  /** Process id of the holder; null in the moment between its taking the lock and telling who it is. */
  readonly pid: number | null;

  constructor(dataDir: string, pid: number | null) {
    const holder = pid === null ? "another process" : `another process (pid ${pid})`;
    super(
      `The data directory ${dataDir} is in use by ${holder}: stop that one first, or give this one a directory of its own with PARALLAX_DATA_DIR.`,
    );
    this.name = "DataDirLockedError";
    this.dataDir = dataDir;
    this.pid = pid;
  }
}

export interface DataDirLock {
  release(): Promise<void>;
}

async function readOwner(dataDir: string): Promise<number | null> {
  try {
    const owner: unknown = JSON.parse(await readFile(join(dataDir, OWNER_FILE), "utf8"));
    const pid = typeof owner === "object" && owner !== null && "pid" in owner ? owner.pid : null;
    return typeof pid === "number" && Number.isSafeInteger(pid) ? pid : null;
  } catch {
    return null;
  }
}

/**
 * Takes the directory for this process alone, or throws `DataDirLockedError` having touched nothing of it.
 *
 * The owner file beside the lock is for the message only.
 */
export async function acquireDataDirLock(directory: string): Promise<DataDirLock> {
  const dataDir = resolve(directory);
  const lock = tryLockFile(join(dataDir, LOCK_FILE));
  if (lock === null) throw new DataDirLockedError(dataDir, await readOwner(dataDir));
  const draft = join(dataDir, `${OWNER_FILE}.new`);
  await writeFile(draft, `${JSON.stringify({ pid: process.pid })}\n`, { mode: 0o600 });
  await rename(draft, join(dataDir, OWNER_FILE));
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
