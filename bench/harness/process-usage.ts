import { readFile } from "node:fs/promises";

/** Ticks of /proc/<pid>/stat a second, on every Linux that Node runs on. */
const CLOCK_TICKS = 100;

/** Seconds of processor time a process has used, all its threads together. Linux only; null elsewhere. */
export async function cpuSecondsOf(pid: number): Promise<number | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  // The second field is the program's name in brackets and may hold anything, so counting starts after it.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user, system] = [Number(fields?.[11]), Number(fields?.[12])];
  return Number.isFinite(user + system) ? (user + system) / CLOCK_TICKS : null;
}

/** Resident memory of a process in MiB. Linux only; null elsewhere. */
export async function residentMibOf(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kib === undefined ? null : Number(kib) / 1_024;
}
