/**
 * Measures the first sweep of a large simulated world through the real adapters: the service starts as in production,
 * with the sandbox in another process and the embedded store in a new folder. With `--steady-minutes`, also measures
 * the requests and bytes that follow, and derives those of an hour. `--warm-up-minutes` delays this measurement until the
 * history of the most traded markets has been fetched, which takes about 20 minutes.
 *
 *   node bench/sweep.ts [--markets 50000] [--limits off] [--steady-minutes 0] [--warm-up-minutes 0]
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { sweepPauseAfter } from "../src/ports/venue.ts";
import { loadVenue } from "../src/venues/registry.ts";
import { START_ARGUMENTS, START_ENVIRONMENT } from "../test/support/service-process.ts";
import { fakeVenuePorts } from "../test/support/venues/adapter-harness.ts";

/** A health request counts all markets, so more frequent polling would distort the measurement. */
const POLL_MS = 500;
const SWEEP_MS_MAX = 20 * 60_000;
/** Time from the end of the sweep to the second reading of memory; long enough for garbage collection. */
const REST_MS = 15_000;
const CLOCK_TICKS_PER_SECOND = 100;
const MEBIBYTE = 1024 * 1024;

/** Shortest pause after a sweep, as a multiple of its duration. */
const REST_PER_SWEEP = 2;
const NO_TRAFFIC: Traffic = { requests: 0, receivedBytes: 0, decodedBytes: 0 };
const METRICS_TOKEN = "bench-metrics-token";
/** Share of the first sweep's rows below which a sweep is still running. */
const RUNNING_SHARE_MAX = 0.98;

interface VenueHealth {
  readonly markets: number;
  readonly sweep: { readonly rows: number; readonly completed: number };
  readonly drops: Readonly<Record<string, number>>;
}

/** HTTP requests to a venue, and the bytes of its responses as received and decoded. */
interface Traffic {
  readonly requests: number;
  readonly receivedBytes: number;
  readonly decodedBytes: number;
}

interface FirstSweep {
  readonly venue: string;
  readonly markets: number;
  readonly rows: number;
  readonly seconds: number;
  readonly drops: VenueHealth["drops"];
  readonly traffic: Traffic;
}

interface Usage {
  readonly rssMib: number;
  readonly cpuSeconds: number;
}

const { values } = parseArgs({
  options: {
    markets: { type: "string", default: "50000" },
    limits: { type: "string", default: "off" },
    "steady-minutes": { type: "string", default: "0" },
    "warm-up-minutes": { type: "string", default: "0" },
  },
});
const folder = await mkdtemp(join(tmpdir(), "parallax-sweep-"));
const service = spawn(process.execPath, START_ARGUMENTS, {
  cwd: new URL("..", import.meta.url).pathname,
  env: {
    ...process.env,
    ...START_ENVIRONMENT,
    PARALLAX_PORT: "0",
    PARALLAX_DATA_DIR: folder,
    PARALLAX_SANDBOX_MARKETS: values.markets,
    PARALLAX_SANDBOX_LIMITS: values.limits,
    PARALLAX_LOG_LEVEL: "warn",
    PARALLAX_METRICS_TOKEN: METRICS_TOKEN,
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
  await sleep(REST_MS);
  const usageAfterRest = { service: await readUsage(pid), sandbox: await readUsage(sandboxPid) };
  const markets = venues.reduce((sum, venue) => sum + venue.markets, 0);
  const steadyMinutes = Number(values["steady-minutes"]);
  if (steadyMinutes > 0) await sleep(Number(values["warm-up-minutes"]) * 60_000);
  const hours = await measureSteadyState(url, venues, steadyMinutes);
  const result = {
    processors: cpus().length,
    limits: values.limits,
    startSeconds: (listeningAt - startTime) / 1_000,
    markets,
    seconds,
    marketsPerSecond: markets / seconds,
    venues,
    hours,
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
  const formatRow = (name: string, count: number, durationS: number, traffic: Traffic) =>
    `${name.padEnd(12)} ${String(count).padStart(8)} ${durationS.toFixed(1).padStart(8)} ${(count / durationS).toFixed(0).padStart(10)} ${formatTraffic(traffic)}\n`;
  const trafficHeader = " requests  received   decoded";
  process.stdout.write(`${"first sweep".padEnd(12)}  markets  seconds  markets/s ${trafficHeader}\n`);
  for (const { venue, traffic, ...sweep } of venues)
    process.stdout.write(formatRow(venue, sweep.markets, sweep.seconds, traffic));
  process.stdout.write(formatRow("all", markets, seconds, addTraffic(venues.map(({ traffic }) => traffic))));
  if (hours.length > 0) {
    process.stdout.write(`${"one hour".padEnd(12)}   sweeps every (s)          ${trafficHeader}\n`);
    for (const { venue, sweeps, intervalSeconds, traffic } of hours) {
      const interval = `${sweeps.toFixed(1).padStart(8)} ${intervalSeconds.toFixed(0).padStart(9)}`;
      process.stdout.write(`${venue.padEnd(12)} ${interval}           ${formatTraffic(traffic)}\n`);
    }
    const total = formatTraffic(addTraffic(hours.map(({ traffic }) => traffic)));
    process.stdout.write(`${"all".padEnd(12)}                              ${total}\n`);
  }
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
async function waitForSweeps(url: string, sinceMs: number): Promise<FirstSweep[]> {
  const finishedVenues = new Map<string, FirstSweep>();
  for (;;) {
    const venues = await readHealth(url);
    const traffic = await readTraffic(url);
    const now = performance.now();
    for (const [venue, { markets, sweep, drops }] of Object.entries(venues)) {
      if (sweep.completed === 0 || finishedVenues.has(venue)) continue;
      // Health reports the board's markets with a delay; the rows are those of this sweep.
      finishedVenues.set(venue, {
        venue,
        markets: Math.max(markets, sweep.rows),
        rows: sweep.rows,
        seconds: (now - sinceMs) / 1_000,
        drops,
        traffic: traffic.get(venue) ?? NO_TRAFFIC,
      });
    }
    if (finishedVenues.size === Object.keys(venues).length) return [...finishedVenues.values()];
    if (now - sinceMs > SWEEP_MS_MAX) throw new Error("the first sweeps did not finish in time");
    await sleep(POLL_MS);
  }
}

async function readHealth(url: string): Promise<Readonly<Record<string, VenueHealth>>> {
  const response = await fetch(`${url}/v1/health`);
  return ((await response.json()) as { checks: { venues: Record<string, VenueHealth> } }).checks.venues;
}

/** Reads the traffic of each venue since the start from the metrics. */
async function readTraffic(url: string): Promise<ReadonlyMap<string, Traffic>> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
  const byVenue = new Map<string, Traffic>();
  for (const [, name = "", venue = "", value] of (await response.text()).matchAll(
    /^parallax_venue_(requests|received_bytes|decoded_bytes)_total\{venue="([^"]+)"\} (\S+)$/gm,
  )) {
    const field = { requests: "requests", received_bytes: "receivedBytes", decoded_bytes: "decodedBytes" }[name] ?? "";
    byVenue.set(venue, { ...(byVenue.get(venue) ?? NO_TRAFFIC), [field]: Number(value) });
  }
  return byVenue;
}

/**
 * Measures the traffic of `minutes` and derives that of an hour: sweeps cost as much as the first one and start at the
 * interval of the venue's profile, and all other requests continue at the measured rate.
 */
async function measureSteadyState(url: string, firstSweeps: readonly FirstSweep[], minutes: number) {
  if (minutes === 0) return [];
  const readProgress = async () => ({ health: await readHealth(url), traffic: await readTraffic(url) });
  const start = await readProgress();
  await sleep(minutes * 60_000);
  const end = await readProgress();
  return Promise.all(
    firstSweeps.map(async (first) => {
      const { venue } = first;
      const { profile } = (await loadVenue({ id: venue, adapter: venue }))(
        { ...fakeVenuePorts().ports, socketIo: { connect: () => ({ emit() {}, close() {} }) } },
        {},
        { key: null, member: null },
      );
      const pauseMs = Math.max(sweepPauseAfter(profile, first.rows), REST_PER_SWEEP * first.seconds * 1_000);
      const intervalSeconds = first.seconds + pauseMs / 1_000;
      const sweeps = 3_600 / intervalSeconds;
      const measuredSweeps = countSweeps(end.health[venue], first) - countSweeps(start.health[venue], first);
      const derive = (field: keyof Traffic) => {
        const measured = (end.traffic.get(venue)?.[field] ?? 0) - (start.traffic.get(venue)?.[field] ?? 0);
        const others = Math.max(0, measured - measuredSweeps * first.traffic[field]);
        return sweeps * first.traffic[field] + others * (60 / minutes);
      };
      const traffic = {
        requests: derive("requests"),
        receivedBytes: derive("receivedBytes"),
        decodedBytes: derive("decodedBytes"),
      };
      return { venue, sweeps, intervalSeconds, measuredSweeps, traffic };
    }),
  );
}

/** Returns the number of sweeps since the start, with the share of a running one. */
function countSweeps(health: VenueHealth | undefined, { rows }: FirstSweep): number {
  if (health === undefined) return 0;
  const share = health.sweep.rows / rows;
  return health.sweep.completed + (share < RUNNING_SHARE_MAX ? share : 0);
}

function addTraffic(parts: readonly Traffic[]): Traffic {
  const sum = (field: keyof Traffic) => parts.reduce((total, part) => total + part[field], 0);
  return { requests: sum("requests"), receivedBytes: sum("receivedBytes"), decodedBytes: sum("decodedBytes") };
}

function formatTraffic({ requests, receivedBytes, decodedBytes }: Traffic): string {
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`.padStart(10);
  return `${requests.toFixed(0).padStart(9)}${megabytes(receivedBytes)}${megabytes(decodedBytes)}`;
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
