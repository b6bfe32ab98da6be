import { DatabaseSync } from "node:sqlite";

const SQLITE_BUSY = 5;

/** A lock of this process on a file. */
export interface FileLock {
  release(): void;
}

/**
 * Takes a lock on the file, or gives null where another process (or another lock of this one) has it.
 *
 * It is the operating system's own lock, held through an exclusive transaction on an empty SQLite file (Node brings
 * SQLite, and has no call for file locks). The system ends it with the process, however that dies, so there is no stale
 * lock to judge, no process id to mistake for another one's, no race between two that take over, and a holder that is
 * merely stopped keeps it. It holds between containers that share a local disk, where process ids say nothing. Nothing else
 * of this process may open the file: closing any handle of it would end a POSIX lock.
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
