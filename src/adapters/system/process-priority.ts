import { setPriority } from "node:os";

/**
 * Lowers a process's CPU priority below that of processes that serve requests. Has no effect if the system denies it.
 *
 * @param niceness  1 to 19, the higher the lower the priority
 */
export function lowerProcessPriority(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // The process has ended, or the system denies the change.
  }
}

/** Lowers the priority of the calling thread. Only on Linux, where threads have their own priority. */
export function lowerThreadPriority(niceness: number): void {
  if (process.platform === "linux") lowerProcessPriority(0, niceness);
}
