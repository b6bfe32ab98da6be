/**
 * Benchmark of portfolio sizing.
 *
 *   node bench/portfolio.ts [--positions 25] [--hedges 10] [--runs 100]
 *
 * Sizes a candidate next to positions in correlated markets, some of which have logical constraints. Each run computes 4,096
 * outcomes and the hedges on a worker thread. `loop_delay_p99_ms` is the event-loop delay of the main thread.
 */

import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { systemClock } from "../src/adapters/system/system-clock.ts";
import { openWorkerPool } from "../src/adapters/system/worker-pool.ts";
import { PORTFOLIO_WORKER } from "../src/capabilities/strategy/portfolio-signals/index.ts";
import { roundTo } from "../src/lib/numbers.ts";
import type { PortfolioSize, PortfolioTask } from "../src/trading/index.ts";
import { quantile } from "./harness/statistics.ts";
import { seededRandom } from "./synthetic-markets.ts";

const { values: flags } = parseArgs({
  options: {
    positions: { type: "string", default: "25" },
    hedges: { type: "string", default: "10" },
    runs: { type: "string", default: "100" },
  },
});
const DATA_POINTS = 721;
const BANKROLL_USD = 10_000;

/** Creates a task whose correlations come from three common factors. Every fifth position excludes the previous one. */
function createTask(seed: number, positions: number, hedges: number): PortfolioTask {
  const random = seededRandom(seed);
  const count = 1 + positions + hedges;
  const loadings = Array.from({ length: count }, () => [0, 1, 2].map(() => 2 * (random() - 0.5)));
  const norms = loadings.map((own) => Math.sqrt(own.reduce((sum, value) => sum + value * value, 0.5)));
  const correlations = loadings.flatMap((own, b) =>
    loadings.slice(0, b).map((other, a) => {
      const product = own.reduce((sum, value, factor) => sum + value * (other[factor] ?? 0), 0);
      return { a, b, correlation: product / ((norms[a] ?? 1) * (norms[b] ?? 1)), dataPoints: DATA_POINTS };
    }),
  );
  const heldMarkets = Array.from({ length: positions }, (_, index) => index + 1);
  return {
    markets: loadings.map((_, index) => ({ probability: 0.05 + 0.9 * random(), importance: count - index })),
    constraints: heldMarkets.flatMap((b) => (b % 5 === 0 ? [{ kind: "exclusive" as const, a: b - 1, b }] : [])),
    correlations,
    positions: heldMarkets.map((market) => ({
      market,
      side: random() < 0.5 ? ("yes" as const) : ("no" as const),
      sizeUsd: 200,
      entryPrice: 0.5,
      settledValue: null,
      eventKey: `event ${market}`,
    })),
    candidate: {
      side: "yes",
      variance: 1e-4,
      baseShare: 0.03,
      offers: [{ price: 0.02, size: 100_000 }],
      takerFee: { kind: "none" },
      contractStep: 1,
      minOrderContracts: 1,
      eventKey: "event 0",
    },
    hedges: Array.from({ length: hedges }, (_, index) => index + 1 + positions).flatMap((market) => [
      { market, side: "yes" as const, cost: 0.5, offeredUsd: null },
      { market, side: "no" as const, cost: 0.5, offeredUsd: null },
    ]),
    sizing: { bankrollUsd: BANKROLL_USD, kellyShare: 0.25, positionMax: 0.1 },
  };
}

const pool = openWorkerPool<PortfolioTask, PortfolioSize>(PORTFOLIO_WORKER, systemClock);
const [positions, hedges, runs] = [Number(flags.positions), Number(flags.hedges), Number(flags.runs)];
// The first runs start the thread and compile its code.
for (let seed = 1; seed <= 5; seed++) await pool.run(createTask(seed, positions, hedges), []);
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const times: number[] = [];
for (let seed = 1; seed <= runs; seed++) {
  const task = createTask(seed, positions, hedges);
  const startedAt = performance.now();
  await pool.run(task, []);
  times.push(performance.now() - startedAt);
}
times.sort((a, b) => a - b);
delay.disable();
await pool.close();
const report = {
  positions,
  hedges,
  runs,
  median_ms: roundTo(quantile(times, 0.5), 1),
  p99_ms: roundTo(quantile(times, 0.99), 1),
  loop_delay_p99_ms: roundTo(delay.percentile(99) / 1e6, 1),
};
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
