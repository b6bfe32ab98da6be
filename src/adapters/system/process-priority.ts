import { setPriority } from "node:os";

/**
 * Lowers a process's CPU priority below that of processes that serve requests. Has no effect if the system denies it.
 *
 * @param niceness  1 to 19; a higher value means a lower priority
 */
export function lowerProcessPriority(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // The process has ended, or the system denies the change.
  }
}

/** Niceness of the threads that do background work. */
const BACKGROUND_NICENESS = 10;

/**
 * Lowers the priority of the calling thread below that of the thread that answers requests. Has an effect only on Linux,
 * where each thread has a priority.
 */
export function lowerThreadPriority(): void {
  if (process.platform === "linux") lowerProcessPriority(0, BACKGROUND_NICENESS);
}
