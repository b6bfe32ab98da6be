import { spawn } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { START_ARGUMENTS, START_ENVIRONMENT } from "../../test/support/service-process.ts";
import { findFreePort } from "../harness/child-process.ts";

const READY_MS_MAX = 60_000;
const POLL_MS = 10;

export interface StartedService {
  readonly url: string;
  readonly pid: number;
  /** Process of the simulated venues. */
  readonly sandboxPid: number;
  /** From the start of the process until /readyz returns 200. */
  readonly readyMs: number;
  /** Sends SIGTERM and returns the milliseconds until the service and the sandbox have ended. */
  stop(): Promise<number>;
}

/**
 * Starts the service in `dataDir` as `npm start` does, and waits until it is ready.
 *
 * @param options.group  folder of a control group that the processes join
 * @param options.env  additional environment variables
 */
export async function startAndWait(
  dataDir: string,
  { group, env = {} }: { readonly group?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<StartedService> {
  const port = await findFreePort();
  const startedAt = performance.now();
  const environment = { PARALLAX_PORT: String(port), PARALLAX_DATA_DIR: dataDir, PARALLAX_LOG_LEVEL: "error" };
  const child = spawn(process.execPath, START_ARGUMENTS, {
    cwd: new URL("../..", import.meta.url).pathname,
    env: { ...process.env, PARALLAX_ENV_FILE: "/dev/null", ...START_ENVIRONMENT, ...environment, ...env },
    stdio: "ignore",
    detached: true,
  });
  const pid = child.pid ?? 0;
  if (group !== undefined) await writeFile(`${group}/cgroup.procs`, String(pid));
  const exit = new Promise((resolve) => child.once("exit", resolve));
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    const status = await fetch(`${url}/readyz`).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 200) break;
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`the service ended with ${child.exitCode ?? child.signalCode}`);
    if (performance.now() - startedAt > READY_MS_MAX) throw new Error("not ready within a minute");
    await pause(POLL_MS);
  }
  const readyMs = performance.now() - startedAt;
  return {
    url,
    pid,
    sandboxPid: await findChild(pid),
    readyMs,
    async stop() {
      const signalledAt = performance.now();
      child.kill("SIGTERM");
      await exit;
      while (isGroupRunning(pid)) await pause(10);
      return performance.now() - signalledAt;
    },
  };
}

async function findChild(parent: number): Promise<number> {
  for (const name of await readdir("/proc")) {
    const stat = /^\d+$/.test(name) ? await readFile(`/proc/${name}/stat`, "utf8").catch(() => "") : "";
    if (Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === parent) return Number(name);
  }
  throw new Error("the service has no child process");
}

/** Returns whether the service or the sandbox is still running. Both belong to one process group. */
function isGroupRunning(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}
