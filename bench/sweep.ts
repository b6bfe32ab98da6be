/**
 * Measures the first sweep of a large simulated world through the real adapters: the service starts as in production,
 * with the sandbox in another process and the embedded store in a new folder.
 *
 *   node bench/sweep.ts [--markets 50000] [--limits off]
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { START_ARGUMENTS } from "../test/support/service-process.ts";

/** A health request counts all markets, so more frequent polling would distort the measurement. */
const POLL_MS = 500;
const SWEEP_MS_MAX = 20 * 60_000;
/** Time from the end of the sweep to the second reading of memory; long enough for garbage collection. */
const REST_MS = 15_000;
const CLOCK_TICKS_PER_SECOND = 100;
const MEBIBYTE = 1024 * 1024;

interface VenueHealth {
  readonly markets: number;
  readonly sweep: { readonly rows: number; readonly completed: number };
  readonly drops: Readonly<Record<string, number>>;
}

interface Usage {
  readonly rssMib: number;
  readonly cpuSeconds: number;
}

const { values } = parseArgs({
  options: { markets: { type: "string", default: "50000" }, limits: { type: "string", default: "off" } },
});
const folder = await mkdtemp(join(tmpdir(), "parallax-sweep-"));
const service = spawn(process.execPath, START_ARGUMENTS, {
  cwd: new URL("..", import.meta.url).pathname,
  env: {
    ...process.env,
    PARALLAX_PORT: "0",
    PARALLAX_DATA_DIR: folder,
    PARALLAX_SANDBOX_MARKETS: values.markets,
    PARALLAX_SANDBOX_LIMITS: values.limits,
    PARALLAX_LOG_LEVEL: "warn",
  },
  stdio: ["ignore", "pipe", "inherit"],
});
const exit = new Promise((resolve) => service.once("exit", resolve));
try {
  const startTime = performance.now();
  const url = await waitForUrl(service);
  const listeningAt = performance.now();
  const pid = service.pid ?? 0;
  const sandboxPid = Number((await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim().split(" ")[0]);
  const usageBefore = { service: await readUsage(pid), sandbox: await readUsage(sandboxPid) };
  const venues = await waitForSweeps(url, listeningAt);
  const seconds = Math.max(...venues.map((venue) => venue.seconds));
  const usageAfterSweep = { service: await readUsage(pid), sandbox: await readUsage(sandboxPid) };
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  const usageAfterRest = { service: await readUsage(pid), sandbox: await readUsage(sandboxPid) };
  const markets = venues.reduce((sum, venue) => sum + venue.markets, 0);
  const result = {
    processors: cpus().length,
    limits: values.limits,
    startSeconds: (listeningAt - startTime) / 1_000,
    markets,
    seconds,
    marketsPerSecond: markets / seconds,
    venues,
    cpuSeconds: {
      service: usageAfterSweep.service.cpuSeconds - usageBefore.service.cpuSeconds,
      sandbox: usageAfterSweep.sandbox.cpuSeconds - usageBefore.sandbox.cpuSeconds,
    },
    rssMib: {
      service: usageAfterSweep.service.rssMib,
      sandbox: usageAfterSweep.sandbox.rssMib,
      serviceLater: usageAfterRest.service.rssMib,
      sandboxLater: usageAfterRest.sandbox.rssMib,
    },
  };
  process.stdout.write(`${JSON.stringify(result)}\n\n`);
  const formatRow = (name: string, count: number, durationS: number) =>
    `${name.padEnd(12)} ${String(count).padStart(8)} ${durationS.toFixed(1).padStart(8)} ${(count / durationS).toFixed(0).padStart(10)}\n`;
  process.stdout.write(`${"venue".padEnd(12)}  markets  seconds  markets/s\n`);
  for (const venue of venues) process.stdout.write(formatRow(venue.venue, venue.markets, venue.seconds));
  process.stdout.write(formatRow("all", markets, seconds));
  process.stdout.write(
    `service ${Math.round(usageAfterRest.service.rssMib)} MiB and ${result.cpuSeconds.service.toFixed(1)} s of CPU time, ` +
      `simulated venues ${Math.round(usageAfterRest.sandbox.rssMib)} MiB and ${result.cpuSeconds.sandbox.toFixed(1)} s\n`,
  );
} finally {
  service.kill("SIGINT");
  await exit;
  await rm(folder, { recursive: true, force: true });
}

/** Waits for the URL, which the service prints when it listens and the first sweep starts. */
function waitForUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    if (child.stdout === null) return reject(new Error("the service has no output"));
    child.once("exit", (code) => reject(new Error(`the service exited (exit code ${code})`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const url = /http:\/\/[\d.]+:\d+/.exec(line)?.[0];
      if (url !== undefined) resolve(url);
    });
  });
}

/** Waits for the first sweep of every venue and returns the durations. */
async function waitForSweeps(url: string, sinceMs: number) {
  const finishedVenues = new Map<
    string,
    { venue: string; markets: number; seconds: number; drops: VenueHealth["drops"] }
  >();
  for (;;) {
    const response = await fetch(`${url}/v1/health`);
    const { checks } = (await response.json()) as { checks: { venues: Record<string, VenueHealth> } };
    const now = performance.now();
    for (const [venue, { markets, sweep, drops }] of Object.entries(checks.venues)) {
      if (sweep.completed === 0 || finishedVenues.has(venue)) continue;
      // Health reports the board's markets with a delay; the rows are those of this sweep.
      finishedVenues.set(venue, {
        venue,
        markets: Math.max(markets, sweep.rows),
        seconds: (now - sinceMs) / 1_000,
        drops,
      });
    }
    if (finishedVenues.size === Object.keys(checks.venues).length) return [...finishedVenues.values()];
    if (now - sinceMs > SWEEP_MS_MAX) throw new Error("the first sweeps did not finish in time");
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Reads the memory and CPU time of a process with all threads from /proc. */
async function readUsage(pid: number): Promise<Usage> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const rssKib = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
  return {
    rssMib: (rssKib * 1024) / MEBIBYTE,
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND,
  };
}
