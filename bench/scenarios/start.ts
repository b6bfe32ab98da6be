import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { temporaryFolder } from "../../test/support/service-process.ts";
import { benchRow, type Scenario } from "../harness/scenario.ts";

const RESTARTS = 5;
const WAIT_MS_MAX = 60_000;
const POLL_MS = 25;
/** Time between ready and SIGTERM. */
const RUN_MS = 3_000;

export const startScenario: Scenario = {
  name: "start",
  describe: "Time from `npm start` until /readyz returns 200, with a new and an existing data directory.",
  async run(options) {
    const folder = await temporaryFolder();
    try {
      const first = await startOnce(folder.path);
      options.print(`first start with ${first.markets} markets`);
      const restarts = [];
      const count = options.rounds ?? (options.quick ? 2 : RESTARTS);
      for (let index = 0; index < count; index++) restarts.push(await startOnce(folder.path));
      return [
        benchRow({ figure: "first start", unit: "ms until ready", samples: [first.readyMs] }),
        benchRow({ figure: "restart", unit: "ms until ready", samples: restarts.map(({ readyMs }) => readyMs) }),
        benchRow({
          figure: "stop",
          unit: "ms after SIGTERM",
          samples: [first, ...restarts].map(({ stopMs }) => stopMs),
          note: "includes the grace period of two seconds",
        }),
      ];
    } finally {
      await folder.release();
    }
  },
};

/** Milliseconds from spawn to ready, and from SIGTERM until the process group is empty. */
async function startOnce(dataDir: string): Promise<{ readyMs: number; markets: number; stopMs: number }> {
  const port = await freePort();
  const startTime = performance.now();
  const child = spawn("npm", ["start"], {
    cwd: new URL("../..", import.meta.url).pathname,
    env: { ...process.env, PARALLAX_PORT: String(port), PARALLAX_DATA_DIR: dataDir, PARALLAX_LOG_LEVEL: "error" },
    stdio: "ignore",
    detached: true,
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    const status = await fetch(`${url}/readyz`).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 200) break;
    if (performance.now() - startTime > WAIT_MS_MAX) throw new Error("not ready within a minute");
    await pause(POLL_MS);
  }
  const readyMs = performance.now() - startTime;
  const health = (await (await fetch(`${url}/v1/health`)).json()) as {
    checks: { venues: Record<string, { markets: number }> };
  };
  const markets = Object.values(health.checks.venues).reduce((sum, venue) => sum + venue.markets, 0);
  await pause(RUN_MS);
  const signalledAt = performance.now();
  child.kill("SIGTERM");
  await ended;
  while (isGroupRunning(child.pid ?? 0)) await pause(10);
  return { readyMs, markets, stopMs: performance.now() - signalledAt };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}

/** Whether npm, the service or the sandbox still runs: they form one process group. */
function isGroupRunning(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}
