/**
 * How long a start takes until `/readyz` answers 200: once with a new data directory, then five times with it.
 *
 *   node bench/start.ts
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PORT = 18_790;
const RESTARTS = 5;
const WAIT_MS_MAX = 60_000;

const folder = await mkdtemp(join(tmpdir(), "parallax-start-"));

/** Milliseconds from spawning to ready, and from SIGTERM to gone. */
async function startOnce(): Promise<{ readyMs: number; markets: number; goneMs: number }> {
  const begun = performance.now();
  const child = spawn("npm", ["start"], {
    cwd: new URL("..", import.meta.url).pathname,
    env: { ...process.env, PARALLAX_PORT: String(PORT), PARALLAX_DATA_DIR: folder, PARALLAX_LOG_LEVEL: "error" },
    stdio: "ignore",
    detached: true,
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const url = `http://127.0.0.1:${PORT}`;
  for (;;) {
    const status = await fetch(`${url}/readyz`).then(
      (reply) => reply.status,
      () => 0,
    );
    if (status === 200) break;
    if (performance.now() - begun > WAIT_MS_MAX) throw new Error("not ready in a minute");
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  const readyMs = performance.now() - begun;
  const health = (await (await fetch(`${url}/v1/health`)).json()) as {
    checks: { venues: Record<string, { markets: number }> };
  };
  const markets = Object.values(health.checks.venues).reduce((sum, venue) => sum + venue.markets, 0);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const told = performance.now();
  child.kill("SIGTERM");
  await ended;
  while (isAnyoneLeft(child.pid ?? 0)) await new Promise((resolve) => setTimeout(resolve, 10));
  return { readyMs, markets, goneMs: performance.now() - told };
}

/** Whether a process of the group still runs: npm, the service or the simulated venues. */
function isAnyoneLeft(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}

const round = (value: number) => Math.round(value);
const first = await startOnce();
process.stdout.write(
  `first start: ready after ${round(first.readyMs)} ms with ${first.markets} markets; gone ${round(first.goneMs)} ms after SIGTERM\n`,
);
const restarts = [];
for (let index = 0; index < RESTARTS; index++) restarts.push(await startOnce());
const sorted = restarts.map((one) => one.readyMs).sort((a, b) => a - b);
const gone = Math.max(...restarts.map((one) => one.goneMs));
process.stdout.write(
  `${RESTARTS} restarts: ready after ${round(sorted[0] ?? 0)} / ${round(sorted[Math.floor(RESTARTS / 2)] ?? 0)} / ${round(sorted.at(-1) ?? 0)} ms (min / median / max); gone at most ${round(gone)} ms after SIGTERM\n`,
);
await rm(folder, { recursive: true, force: true });
