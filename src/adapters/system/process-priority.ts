import { setPriority } from "node:os";

/**
 * Lets a process have the processor only after those that answer somebody, where both want it. Nothing depends on it: a
 * machine that does not allow it goes on as before.
 *
 * @param niceness  1 to 19: the larger, the more it gives way
 */
export function lowerProcessPriority(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // It has ended meanwhile, or the machine does not allow it.
  }
}

/** The same for the thread that calls; only Linux keeps a thread's priority apart from its process's. */
export function lowerThreadPriority(niceness: number): void {
  if (process.platform === "linux") lowerProcessPriority(0, niceness);
}
