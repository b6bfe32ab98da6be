/**
 * Benchmark of analyses.
 *
 *   node bench/analyses.ts [--markets 500] [--runs 1000] [--research 1000] [--kill 5] [--workers 2] [--concurrency 8] [--minutes 20]
 *
 * - `engine_per_second`: analyses of one thread without store and queue.
 * - `light`: on the embedded store, from the request to the result, for all markets. `loop_delay_p99_ms` is that of the API's
 *   event loop, `cpu_p99_ms` the time of one analysis on its thread.
 * - `killed`: with TEST_DATABASE_URL, runs whose research takes `--research` milliseconds, on worker processes of which one is
 *   killed every `--kill` seconds and replaced. Reports how the runs ended within `--minutes`.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import fc from "fast-check";
import { migrateDatabase } from "../src/adapters/database/migrations.ts";
import { openPostgresDatabase } from "../src/adapters/database/postgres-database.ts";
import { runTask } from "../src/capabilities/analysis/analyses/compute.ts";
import { roundTo } from "../src/lib/numbers.ts";
import { openHarness, VENUE } from "../test/support/analyses/analysis-harness.ts";
import { slowResearch } from "../test/support/analyses/scripted-research.ts";
import { embeddedDatabase } from "../test/support/databases.ts";
import { anyView } from "../test/support/engine/market-views.ts";
import { quietLog } from "../test/support/quiet-log.ts";
import { eventually } from "../test/support/service-process.ts";
import { quantile } from "./harness/statistics.ts";

const { values: flags } = parseArgs({
  options: {
    markets: { type: "string", default: "500" },
    runs: { type: "string", default: "1000" },
    research: { type: "string", default: "1000" },
    kill: { type: "string", default: "5" },
    workers: { type: "string", default: "2" },
    concurrency: { type: "string", default: "8" },
    minutes: { type: "string", default: "20" },
  },
});
const WORKER = fileURLToPath(new URL("programs/analysis-worker.ts", import.meta.url));
const CUSTOMERS = 7;
const RUN_MS_MAX = Number(flags.minutes) * 60_000;
/** Different views of markets for which the engine is timed. */
const VIEWS = 500;

async function measureLight(markets: number) {
  const database = await embeddedDatabase();
  const { app, listMarket } = await openHarness(database, { analyses: { concurrency: Number(flags.concurrency) } });
  for (let number = 0; number < markets; number++) listMarket(`m-${number}`);
  const views = fc.sample(anyView, { numRuns: VIEWS, seed: 15 });
  const cpuMs: number[] = [];
  for (const until = performance.now() + 2_000; performance.now() < until; ) {
    const view = views[cpuMs.length % VIEWS];
    if (view === undefined) throw new Error("there is no view");
    const before = performance.now();
    runTask(view);
    cpuMs.push(performance.now() - before);
  }
  const enginePerSecond = 1_000 / (cpuMs.reduce((sum, ms) => sum + ms, 0) / cpuMs.length);
  const { service, latest } = app.analyses;
  const request = (number: number) =>
    service.analyse(VENUE, `m-${number}`, { customerId: `cus-${number % CUSTOMERS}`, isForced: false });
  app.analyses.start();
  await request(0);
  await eventually(() => (latest.size === 1 ? true : null), "the first analysis");
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startedAt = performance.now();
  for (let number = 1; number < markets; number++) await request(number);
  const requestedMs = performance.now() - startedAt;
  await eventually(() => (latest.size === markets ? true : null), "all analyses", RUN_MS_MAX);
  const seconds = (performance.now() - startedAt) / 1_000;
  delay.disable();
  await app.analyses.stop();
  await app.http.close();
  return {
    engine_per_second: Math.round(enginePerSecond),
    light: {
      markets,
      per_second: roundTo((markets - 1) / seconds, 1),
      request_ms: roundTo(requestedMs / (markets - 1), 2),
      loop_delay_p99_ms: roundTo(delay.percentile(99) / 1e6, 1),
      cpu_p99_ms: roundTo(quantile(cpuMs, 0.99), 3),
    },
  };
}

/** Runs a worker, and counts the starts of research that it reports. */
function startWorker(args: readonly string[], onResearch: (line: string) => void): Promise<ChildProcess> {
  const child = spawn(process.execPath, [WORKER, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line === "ready") resolve(child);
      else onResearch(line);
    });
  });
}

async function measureKills(url: string, runs: number) {
  const schema = `bench_${process.pid}`;
  const database = await openPostgresDatabase({ url, schema, log: quietLog });
  await migrateDatabase(database);
  const researchRunner = slowResearch(0);
  const { app, listMarket } = await openHarness(database, { analyses: { researchRunner } });
  const requested = new Set<string>();
  for (let number = 0; number < runs; number++) {
    listMarket(`m-${number}`);
    const options = { customerId: `cus-${number % CUSTOMERS}`, isForced: false };
    requested.add((await app.analyses.service.analyse(VENUE, `m-${number}`, options)).analysisId);
  }
  const research = { new: 0, continued: 0 };
  /** New starts of research by market. */
  const starts = new Map<string, number>();
  const args = [url, schema, flags.runs, flags.research, flags.concurrency];
  const countStart = (line: string) => {
    const [marketId = "", kind] = line.split(" ");
    if (kind === "new") {
      research.new += 1;
      starts.set(marketId, (starts.get(marketId) ?? 0) + 1);
    } else research.continued += 1;
  };
  const start = () => startWorker(args, countStart);
  const workers = await Promise.all(Array.from({ length: Number(flags.workers) }, start));
  const startedAt = performance.now();
  let kills = 0;
  let left = runs;
  while (left > 0 && performance.now() - startedAt < RUN_MS_MAX) {
    await pause(Number(flags.kill) * 1_000);
    const victim = workers.shift();
    victim?.kill("SIGKILL");
    kills += 1;
    workers.push(await start());
    const [row] = await database.query<{ left: number }>(
      "select count(*) as left from analysis_runs where status = 'running'",
    );
    left = row?.left ?? 0;
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  for (const worker of workers) worker.kill("SIGKILL");
  const states = await database.query<{ status: string; runs: number; attempts: number }>(
    "select status, count(*) as runs, max(attempts) as attempts from analysis_runs group by status",
  );
  const events = await database.query<{ id: string }>(
    "select payload::json ->> 'analysis_id' as id from event_log where type = 'analysis_complete'",
  );
  await app.analyses.stop();
  await app.http.close();
  await database.query(`drop schema ${schema} cascade`);
  await database.query(`drop schema ${schema}_jobs cascade`);
  await database.close();
  const eventIds = new Set(events.map(({ id }) => id));
  return {
    runs,
    kills,
    seconds: roundTo(seconds, 1),
    ended: Object.fromEntries(states.map(({ status, runs: count }) => [status, count])),
    attempts_max: Math.max(...states.map(({ attempts }) => attempts)),
    research_started: research.new,
    research_started_per_run_max: Math.max(0, ...starts.values()),
    research_continued: research.continued,
    runs_without_event: [...requested].filter((id) => !eventIds.has(id)).length,
    duplicate_events: events.length - eventIds.size,
  };
}

const url = process.env.TEST_DATABASE_URL;
const print = (figures: object) => process.stdout.write(`${JSON.stringify(figures)}\n`);
print(await measureLight(Number(flags.markets)));
print({ killed: url === undefined ? "TEST_DATABASE_URL is not set" : await measureKills(url, Number(flags.runs)) });
process.exit(0);
