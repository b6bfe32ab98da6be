import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { temporaryFolder } from "../../test/support/service-process.ts";
import { benchRow, type Scenario } from "../harness/scenario.ts";

const RESTARTS = 5;
const WAIT_MS_MAX = 60_000;
const POLL_MS = 25;
/** What a user's service has done by the time it is stopped. */
const RUN_MS = 3_000;

export const startScenario: Scenario = {
  name: "start",
  describe: "How long `npm start` takes until /readyz answers 200: with a new data directory, then again with it.",
  async run(options) {
    const folder = await temporaryFolder();
    try {
      const first = await startOnce(folder.path);
      options.say(`first start with ${first.markets} markets`);
      const restarts = [];
      const count = options.rounds ?? (options.quick ? 2 : RESTARTS);
      for (let index = 0; index < count; index++) restarts.push(await startOnce(folder.path));
      return [
        benchRow({ figure: "first start", unit: "ms until ready", samples: [first.readyMs] }),
        benchRow({ figure: "start again", unit: "ms until ready", samples: restarts.map(({ readyMs }) => readyMs) }),
        benchRow({
          figure: "stop",
          unit: "ms after SIGTERM",
          samples: [first, ...restarts].map(({ goneMs }) => goneMs),
          note: "two seconds of it are the grace in which it goes on answering",
        }),
      ];
    } finally {
      await folder.release();
    }
  },
};

/** Milliseconds from spawning to ready, and from SIGTERM until nobody of the process group is left. */
async function startOnce(dataDir: string): Promise<{ readyMs: number; markets: number; goneMs: number }> {
  const port = await freePort();
  const begun = performance.now();
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
      (reply) => reply.status,
      () => 0,
    );
    if (status === 200) break;
    if (performance.now() - begun > WAIT_MS_MAX) throw new Error("not ready in a minute");
    await pause(POLL_MS);
  }
  const readyMs = performance.now() - begun;
  const health = (await (await fetch(`${url}/v1/health`)).json()) as {
    checks: { venues: Record<string, { markets: number }> };
  };
  const markets = Object.values(health.checks.venues).reduce((sum, venue) => sum + venue.markets, 0);
  await pause(RUN_MS);
  const told = performance.now();
  child.kill("SIGTERM");
  await ended;
  while (isAnyoneLeft(child.pid ?? 0)) await pause(10);
  return { readyMs, markets, goneMs: performance.now() - told };
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

/** Whether a process of the group still runs: npm, the service or the simulated venues. */
function isAnyoneLeft(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}
