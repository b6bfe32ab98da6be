/**
 * Benchmark of `POST /v1/screen` over a board of full size, while the board changes.
 *
 *   node bench/screen.ts [--markets 300000] [--changes 2000] [--rounds 300]
 *
 * One process runs the HTTP server, the board and the screening; it changes quotes in slices of 10 ms. The benchmark
 * process sends one request at a time, every kind once per round, and measures from sending to the last byte.
 *
 * - `compute_p99_ms`: p99 of the time that a screen occupies the event loop, without HTTP.
 * - `change_us`: time of one change of the board, including the update of the score columns.
 */
import { fork } from "node:child_process";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { createPinoLog } from "../src/adapters/system/pino-log.ts";
import { systemClock } from "../src/adapters/system/system-clock.ts";
import { systemRandom } from "../src/adapters/system/system-random.ts";
import { MarketBoard } from "../src/board/index.ts";
import { createScreeningService, screeningRoutes } from "../src/capabilities/markets/screening/index.ts";
import { PLAN_ALLOWANCES } from "../src/domain/plan.ts";
import { createHttpServer } from "../src/http/server.ts";
import { roundTo } from "../src/lib/numbers.ts";
import { receiveMessage } from "./harness/child-process.ts";
import { quantiles } from "./harness/statistics.ts";
import { createTimedClient } from "./harness/timed-client.ts";
import { SYNTHETIC_VENUES, seededRandom, syntheticEvents } from "./synthetic-markets.ts";

const { values: flags } = parseArgs({
  options: {
    markets: { type: "string", default: "300000" },
    changes: { type: "string", default: "2000" },
    rounds: { type: "string", default: "300" },
    role: { type: "string", default: "bench" },
  },
});
const WARM_UP_ROUND_COUNT = 30;
const CHANGE_INTERVAL_MS = 10;
const DAY_AGO_SHARE = 0.5;

/** Bodies of the requests, one per kind. */
const KINDS: Readonly<Record<string, object>> = {
  "whole board": {},
  "whole board, 200 markets": { limit: 200 },
  "every threshold": {
    min_volume_24h: 100,
    min_liquidity: 100,
    max_spread: 0.05,
    min_score: 0.3,
    limit: 200,
    min_hours_to_resolution: 1,
    max_hours_to_resolution: 2_000,
  },
  "thresholds that nothing passes": { min_score: 1 },
  "one venue and category": { platform: "southmarket", category: "sports", limit: 200 },
  "search for a common word": { query: "will", limit: 200 },
  "search for a name": { query: "morillski" },
};

interface ServiceReport {
  readonly url: string;
  readonly changeMicroseconds: number;
}
interface ComputeReport {
  readonly computeMs: readonly number[];
  readonly changes: number;
}

/** Runs the server, changes the board, and reports the duration of each screen. */
async function runService(): Promise<void> {
  const now = Date.now();
  const board = new MarketBoard(() => systemClock.now());
  const service = createScreeningService({
    board,
    clock: systemClock,
    findLastHour: () => ({ yesPriceBefore: 0.5, volumeUsd: 100 }),
    estimateOf: () => null,
  });
  const random = seededRandom(3);
  for (const { event, markets } of syntheticEvents({ markets: Number(flags.markets), now })) {
    board.applyEvent(event);
    for (const snapshot of markets) {
      const { market } = board.apply(snapshot, now);
      if (random() < DAY_AGO_SHARE) board.annotate(market, { priceDayAgo: (1 + random.integer(98)) / 100 });
    }
  }
  board.prepareLists();
  const ids = [...board.markets()].map(({ listing }) => ({ venue: listing.venue, marketId: listing.marketId }));
  const change = () => {
    const { venue, marketId } = random.pick(ids);
    const bid = (1 + random.integer(95)) / 100;
    board.applyQuote(venue, marketId, { bid, ask: bid + 0.01 }, Date.now());
  };
  const changeCount = 20_000;
  const startedAt = performance.now();
  for (let count = 0; count < changeCount; count++) change();
  const changeMicroseconds = ((performance.now() - startedAt) * 1_000) / changeCount;

  const computeMs: number[] = [];
  const app = await createHttpServer({
    clock: systemClock,
    log: createPinoLog("error"),
    random: systemRandom,
    data: "sandbox",
    authentication: {
      authenticate: () => ({ kind: "customer", customerId: "bench", plan: "pro", allowance: PLAN_ALLOWANCES.pro }),
    },
  });
  const timedService: typeof service = {
    screen(screenRequest) {
      const begunAt = performance.now();
      const result = service.screen(screenRequest);
      computeMs.push(performance.now() - begunAt);
      return result;
    },
  };
  screeningRoutes(app, timedService, { trading: SYNTHETIC_VENUES, all: SYNTHETIC_VENUES });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  app.lifecycle.markReady();
  let changes = 0;
  setInterval(() => {
    const due = (Number(flags.changes) * CHANGE_INTERVAL_MS) / 1_000;
    for (let count = 0; count < due; count++) change();
    changes += due;
  }, CHANGE_INTERVAL_MS);
  const report: ServiceReport = { url, changeMicroseconds };
  process.send?.(report);
  process.on("disconnect", () => process.exit(0));
  process.on("message", () => {
    const compute: ComputeReport = { computeMs, changes };
    process.send?.(compute);
  });
}

async function runBenchmark(): Promise<void> {
  const child = fork(new URL(import.meta.url).pathname, [
    ...["--role", "serve", "--markets", flags.markets, "--changes", flags.changes],
  ]);
  process.once("exit", () => child.kill());
  const { url, changeMicroseconds } = await receiveMessage<ServiceReport>(child);
  const post = createTimedClient(url, "bench");
  const times = new Map(Object.keys(KINDS).map((kind) => [kind, [] as number[]]));
  const bytes = new Map<string, number>();
  for (let round = -WARM_UP_ROUND_COUNT; round < Number(flags.rounds); round++) {
    for (const [kind, body] of Object.entries(KINDS)) {
      const response = await post("/v1/screen", body);
      if (response.status !== 200) throw new Error(`The screen returned ${response.status}`);
      bytes.set(kind, response.bytes);
      if (round >= 0) times.get(kind)?.push(response.ms);
    }
  }
  const computeReport = receiveMessage<ComputeReport>(child);
  child.send("compute");
  const { computeMs, changes } = await computeReport;
  child.disconnect();
  const all = [...times.values()].flat();
  const compute = computeMs.slice(WARM_UP_ROUND_COUNT * times.size);
  const [p50, p99, max] = quantiles(all, [0.5, 0.99, 1]);
  const [computeP50, computeP99] = quantiles(compute, [0.5, 0.99]);
  const totals = {
    node: process.version,
    cpus: cpus().length,
    markets: Number(flags.markets),
    changes,
    requests: all.length,
    p50_ms: roundTo(p50, 2),
    p99_ms: roundTo(p99, 2),
    max_ms: roundTo(max, 2),
    compute_p50_ms: roundTo(computeP50, 2),
    compute_p99_ms: roundTo(computeP99, 2),
    change_us: roundTo(changeMicroseconds, 1),
  };
  process.stdout.write(`${JSON.stringify(totals)}\n\n`);
  process.stdout.write(`| ${"kind".padEnd(32)} |  p50 ms |  p99 ms |  max ms |   bytes |\n`);
  for (const [kind, values] of times) {
    const figures = quantiles(values, [0.5, 0.99, 1]).map((ms) => ms.toFixed(2).padStart(7));
    const cells = [kind.padEnd(32), ...figures, String(bytes.get(kind) ?? 0).padStart(7)];
    process.stdout.write(`| ${cells.join(" | ")} |\n`);
  }
}

if (flags.role === "serve") await runService();
else await runBenchmark();
