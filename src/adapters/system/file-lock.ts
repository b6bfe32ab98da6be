import { DatabaseSync } from "node:sqlite";

const SQLITE_BUSY = 5;

/** A lock that this process holds on a file. */
export interface FileLock {
  release(): void;
}

/**
 * Locks the file. Returns null if another process or this process has already locked it.
 *
 * Node has no API for file locks, so this uses the operating system's lock under an exclusive SQLite transaction on an
 * empty file. The system releases the lock when the process ends, so no lock becomes stale. The lock also works between
 * containers that share a local disk. No other code in this process may open the file, because closing any handle of it
 * releases a POSIX lock.
 */
export function tryLockFile(path: string): FileLock | null {
  const lockDatabase = new DatabaseSync(path);
  try {
    lockDatabase.exec("pragma busy_timeout = 0; pragma journal_mode = memory; begin exclusive");
  } catch (error) {
    lockDatabase.close();
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return null;
    throw error;
  }
  return {
    release() {
      if (lockDatabase.isOpen) lockDatabase.close();
    },
  };
}
