import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";

const LOCK_FILE = "lock";
const OWNER_FILE = "lock-owner.json";
const SQLITE_BUSY = 5;

/** Another process works in this data directory. The message is one sentence made to be shown. */
export class DataDirLockedError extends Error {
  /** The message is for the operator as it stands; no stack beside it. */
  readonly isPlain = true;
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
 * The lock is the operating system's own lock on a file, held through an exclusive transaction on an empty SQLite file
 * (Node brings SQLite, and has no call for file locks). The system ends it with the process, however that dies, so there
 * is no stale lock to judge, no process id to mistake for another one's, no race between two that take over, and a holder
 * that is merely stopped keeps it. It holds between containers that share a local disk, where process ids say nothing.
 * The owner file beside it is for the message only. Nothing else of this process may open the lock file: closing any
 * handle of it would end a POSIX lock.
 */
export async function acquireDataDirLock(directory: string): Promise<DataDirLock> {
  const dataDir = resolve(directory);
  const file = new DatabaseSync(join(dataDir, LOCK_FILE));
  try {
    file.exec("pragma busy_timeout = 0; pragma journal_mode = memory; begin exclusive");
  } catch (error) {
    file.close();
    const isBusy = error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;
    if (!isBusy) throw error;
    throw new DataDirLockedError(dataDir, await readOwner(dataDir));
  }
  const draft = join(dataDir, `${OWNER_FILE}.new`);
  await writeFile(draft, `${JSON.stringify({ pid: process.pid })}\n`, { mode: 0o600 });
  await rename(draft, join(dataDir, OWNER_FILE));
  return {
    async release() {
      if (!file.isOpen) return;
      await rm(join(dataDir, OWNER_FILE), { force: true });
      file.close();
    },
  };
}
