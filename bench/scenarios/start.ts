import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { temporaryFolder } from "../../test/support/service-process.ts";
import { findFreePort } from "../harness/child-process.ts";
import { createBenchRow, type Scenario } from "../harness/scenario.ts";

const RESTART_COUNT = 5;
const READY_MS_MAX = 60_000;
const POLL_MS = 25;
/** Time from readiness to SIGTERM. */
const RUNNING_MS = 3_000;

export const startScenario: Scenario = {
  name: "start",
  describe: "Time from `npm start` until /readyz returns 200, with a new and an existing data directory.",
  async run(options) {
    const folder = await temporaryFolder();
    try {
      const firstStart = await startOnce(folder.path);
      options.print(`first start with ${firstStart.markets} markets`);
      const restarts = [];
      const restartCount = options.rounds ?? (options.quick ? 2 : RESTART_COUNT);
      for (let index = 0; index < restartCount; index++) restarts.push(await startOnce(folder.path));
      return [
        createBenchRow({ figure: "first start", unit: "ms until ready", samples: [firstStart.readyMs] }),
        createBenchRow({ figure: "restart", unit: "ms until ready", samples: restarts.map(({ readyMs }) => readyMs) }),
        createBenchRow({
          figure: "stop",
          unit: "ms after SIGTERM",
          samples: [firstStart, ...restarts].map(({ stopMs }) => stopMs),
          note: "includes the grace period of two seconds",
        }),
      ];
    } finally {
      await folder.release();
    }
  },
};

/** Starts and stops the service. Returns milliseconds from spawn to ready, and from SIGTERM until the process group is empty. */
async function startOnce(dataDir: string): Promise<{ readyMs: number; markets: number; stopMs: number }> {
  const port = await findFreePort();
  const startTime = performance.now();
  const child = spawn("npm", ["start"], {
    cwd: new URL("../..", import.meta.url).pathname,
    env: { ...process.env, PARALLAX_PORT: String(port), PARALLAX_DATA_DIR: dataDir, PARALLAX_LOG_LEVEL: "error" },
    stdio: "ignore",
    detached: true,
  });
  const exit = new Promise((resolve) => child.once("exit", resolve));
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    const status = await fetch(`${url}/readyz`).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 200) break;
    if (performance.now() - startTime > READY_MS_MAX) throw new Error("not ready within a minute");
    await pause(POLL_MS);
  }
  const readyMs = performance.now() - startTime;
  const health = (await (await fetch(`${url}/v1/health`)).json()) as {
    checks: { venues: Record<string, { markets: number }> };
  };
  const markets = Object.values(health.checks.venues).reduce((sum, venue) => sum + venue.markets, 0);
  await pause(RUNNING_MS);
  const signalledAt = performance.now();
  child.kill("SIGTERM");
  await exit;
  while (isGroupRunning(child.pid ?? 0)) await pause(10);
  return { readyMs, markets, stopMs: performance.now() - signalledAt };
}

/** Returns whether npm, the service or the sandbox is still running. All three belong to one process group. */
function isGroupRunning(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}
