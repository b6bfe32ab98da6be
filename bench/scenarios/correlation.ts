import { monitorEventLoopDelay } from "node:perf_hooks";
import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { migrateDatabase } from "../../src/adapters/database/migrations.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { openWorkerPool } from "../../src/adapters/system/worker-pool.ts";
import { computeReport } from "../../src/capabilities/markets/correlation/compute.ts";
import {
  CORRELATION_WORKER,
  type CorrelationReport,
  type CorrelationTask,
} from "../../src/capabilities/markets/correlation/index.ts";
import { encodeReport } from "../../src/capabilities/markets/correlation/report.ts";
import { HOUR_MS } from "../../src/lib/durations.ts";
import { pairCorrelations } from "../../src/quant/correlation.ts";
import type { LogOddsMoves } from "../../src/quant/price-grid.ts";
import { readPriceSeries } from "../../src/storage/readers/price-series.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { temporaryFolder } from "../../test/support/service-process.ts";
import { interleave } from "../harness/rounds.ts";
import { type BenchRow, createBenchRow, type Scenario } from "../harness/scenario.ts";

const HOURS = 30 * 24;
const MARKETS = 20;
const COMPUTE_MS_MAX = 50;
const LARGE_MARKETS = 500;
const LARGE_STEPS = 2_000;
const LARGE_MS_MAX = 1_000;
const ROUNDS = 9;
const ROUNDS_QUICK = 3;

/** Hourly bars of 30 days: random walks with a common part. */
const INSERT_BARS = `
insert into bars_1h (market_key, start_at, yes_close, source)
select market, to_timestamp($2::float8 / 1000) + hour * interval '1 hour',
  (500000 + 200000 * sin(hour / 50.0) + 50000 * sin(hour * market / 7.0) + 20000 * random())::int4, 'ticks'
from generate_series(1, $1::int4) as market, generate_series(0, ${HOURS}) as hour`;

export const correlationScenario: Scenario = {
  name: "correlation",
  describe:
    "Correlation of 20 markets over 30 days from the embedded store, and of 500 markets with 2,000 points on a thread\nbeside the event loop.",
  async run(options) {
    const rounds = options.rounds ?? (options.quick ? ROUNDS_QUICK : ROUNDS);
    return [...(await measureStored(rounds)), ...(await measureLarge(rounds))];
  },
};

async function measureStored(rounds: number): Promise<readonly BenchRow[]> {
  const folder = await temporaryFolder();
  const database = await openEmbeddedDatabase({ dataDir: folder.path, log: quietLog });
  try {
    await migrateDatabase(database);
    const now = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
    await database.query(INSERT_BARS, [MARKETS * 10, now - (HOURS + 1) * HOUR_MS]);
    const keys = Array.from({ length: MARKETS }, (_, index) => index + 1);
    const computeMs: number[] = [];
    const totalMs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const startedAt = performance.now();
      const series = await readPriceSeries(database, keys, { period: "30d", now });
      const readAt = performance.now();
      const report = computeReport({
        ...series,
        marketIds: keys.map(String),
        platform: null,
        matches: [],
        minCorrelation: null,
        limit: null,
        period: "30d",
        generatedAt: now,
      });
      if (![...encodeReport(report)].join("").includes(`"data_points":${HOURS}`))
        throw new Error("no pair was compared");
      computeMs.push(performance.now() - readAt);
      totalMs.push(performance.now() - startedAt);
    }
    const atMost = (value: number) => ({ of: "median", bound: "at_most", value }) as const;
    return [
      createBenchRow({
        figure: `${MARKETS} markets, 30 days: compute`,
        unit: "ms",
        samples: computeMs,
        target: atMost(COMPUTE_MS_MAX),
      }),
      createBenchRow({
        figure: `${MARKETS} markets, 30 days: read and compute`,
        unit: "ms",
        samples: totalMs,
        target: atMost(300),
      }),
    ];
  } finally {
    await database.close();
    await folder.release();
  }
}

/** Prices that change at every step. */
function createLargeTask(): CorrelationTask {
  const series = Array.from({ length: LARGE_MARKETS }, (_, market) => {
    const times = Float64Array.from({ length: LARGE_STEPS + 1 }, (_, step) => step * HOUR_MS);
    const prices = times.map((_, step) => 0.5 + 0.4 * Math.sin(step * (1 + market / 1_000) + market));
    return { times, prices };
  });
  return {
    grid: { start: 0, step: HOUR_MS, count: LARGE_STEPS + 1 },
    series,
    marketIds: series.map((_, index) => `market-${index}`),
    platform: "venue",
    matches: [],
    minCorrelation: null,
    limit: null,
    period: "30d",
    generatedAt: 0,
  };
}

async function measureLarge(rounds: number): Promise<readonly BenchRow[]> {
  const pool = openWorkerPool<CorrelationTask, CorrelationReport>(CORRELATION_WORKER, systemClock);
  const moves: readonly LogOddsMoves[] = createLargeTask().series.map(({ prices }) => ({
    values: prices.slice(1),
    first: 0,
  }));
  const delaysMs: number[] = [];
  const onThread = async (): Promise<number> => {
    const task = createLargeTask();
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const startedAt = performance.now();
    const report = await pool.run(
      task,
      task.series.flatMap(({ times, prices }) => [times.buffer, prices.buffer]),
    );
    let length = 0;
    for (const piece of encodeReport(report)) {
      length += piece.length;
      await systemClock.yieldToEventLoop();
    }
    if (length < LARGE_MARKETS ** 2) throw new Error("the body has too few pairs");
    const tookMs = performance.now() - startedAt;
    delay.disable();
    delaysMs.push(delay.max / 1e6);
    return tookMs;
  };
  try {
    await onThread();
    delaysMs.length = 0;
    const samples = await interleave(rounds, {
      thread: onThread,
      coefficients: async () => {
        const startedAt = performance.now();
        pairCorrelations(moves);
        return performance.now() - startedAt;
      },
    });
    const figure = `${LARGE_MARKETS} markets × ${LARGE_STEPS} points`;
    return [
      createBenchRow({
        figure: `${figure}: computed on a thread, and the JSON in pieces`,
        unit: "ms",
        samples: samples.thread,
        target: { of: "median", bound: "at_most", value: LARGE_MS_MAX },
      }),
      createBenchRow({ figure: `${figure}: longest delay of the event loop`, unit: "ms", samples: delaysMs }),
      createBenchRow({ figure: `${figure}: coefficients alone`, unit: "ms", samples: samples.coefficients }),
    ];
  } finally {
    await pool.close();
  }
}
