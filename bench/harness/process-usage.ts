import { readdir, readFile } from "node:fs/promises";

/** Clock ticks per second in /proc/<pid>/stat, the same on every Linux that Node supports. */
const CLOCK_TICKS_PER_SECOND = 100;

/** Returns the CPU time of a process in seconds, including all threads, or null if the system is not Linux. */
export async function cpuSecondsOf(pid: number): Promise<number | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  // The second field is the program's name in brackets and may contain spaces, so parsing starts after it.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [userTicks, systemTicks] = [Number(fields?.[11]), Number(fields?.[12])];
  return Number.isFinite(userTicks + systemTicks) ? (userTicks + systemTicks) / CLOCK_TICKS_PER_SECOND : null;
}

/** Returns the number of open file descriptors of a process, or null if the system is not Linux. */
export async function descriptorsOf(pid: number): Promise<number | null> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => null);
  return names?.length ?? null;
}

/** Returns the resident memory of a process in MiB, or null if the system is not Linux. */
export const residentMibOf = (pid: number): Promise<number | null> => readMemory(pid, "VmRSS");

/** Returns the largest resident memory that a process has had, in MiB, or null if the system is not Linux. */
export const peakMibOf = (pid: number): Promise<number | null> => readMemory(pid, "VmHWM");

async function readMemory(pid: number, field: "VmRSS" | "VmHWM"): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kib = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1];
  return kib === undefined ? null : Number(kib) / 1_024;
}
