import { DatabaseSync } from "node:sqlite";

const SQLITE_BUSY = 5;

/** A lock that this process holds on a file. */
export interface FileLock {
  release(): void;
}

/**
 * Locks the file, or returns null if it is locked already, by another process or by this one.
 *
 * Node has no API for file locks, so this uses the operating system's lock under an exclusive SQLite transaction on an
 * empty file. The system releases the lock when the process ends, so there are no stale locks and no process ids to
 * compare, and it also works between containers that share a local disk. Nothing else in this process may open the file,
 * because closing any handle of it releases a POSIX lock.
 */
export function tryLockFile(path: string): FileLock | null {
  const file = new DatabaseSync(path);
  try {
    file.exec("pragma busy_timeout = 0; pragma journal_mode = memory; begin exclusive");
  } catch (error) {
    file.close();
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return null;
    throw error;
  }
  return {
    release() {
      if (file.isOpen) file.close();
    },
  };
}
