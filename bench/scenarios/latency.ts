import { openEmbeddedDatabase } from "../../src/adapters/database/embedded-database.ts";
import { quietLog } from "../../test/support/quiet-log.ts";
import { startBareServer } from "../harness/bare-server.ts";
import { LIVELY_TICKS_PER_SECOND_MIN, openLivelyService } from "../harness/lively-world.ts";
import { type FixedRateResult, type LoadTarget, sendAtFixedRate } from "../harness/load.ts";
import { interleave } from "../harness/rounds.ts";
import { createBenchRow, type Scenario } from "../harness/scenario.ts";

const REQUESTS_PER_SECOND = 2_000;
const ROUND_SECONDS = 20;
const ROUNDS = 3;
const P99_MS_MAX = 10;
/** Warm-up time; long enough for the first sweep and JIT compilation to finish. */
const WARM_UP_SECONDS = 10;

export const latencyScenario: Scenario = {
  name: "latency",
  describe: `p99 latency of requests for one market, with the API key check, at a fixed ${REQUESTS_PER_SECOND} requests/s while ingest stores ${LIVELY_TICKS_PER_SECOND_MIN} ticks/s or more.`,
  async run(options) {
    const service = await openLivelyService();
    const target: LoadTarget = { url: `${service.url}${service.marketPath}`, headers: service.headers };
    const bareServer = await startBareServer(target);
    const seconds = options.quick ? 3 : ROUND_SECONDS;
    const rounds = options.rounds ?? (options.quick ? 1 : ROUNDS);
    const results = { ours: [] as FixedRateResult[], bare: [] as FixedRateResult[] };
    const measuredRanges: { fromMs: number; toMs: number }[] = [];
    const measure = async (name: "ours" | "bare", measuredTarget: LoadTarget) => {
      const result = await sendAtFixedRate(measuredTarget, { perSecond: REQUESTS_PER_SECOND, seconds });
      if (result.failed > 0) throw new Error(`${result.failed} of ${result.sent} requests failed (${name})`);
      results[name].push(result);
      return result.p99Ms;
    };
    try {
      await sendAtFixedRate(target, { perSecond: REQUESTS_PER_SECOND, seconds: options.quick ? 2 : WARM_UP_SECONDS });
      options.print(`${rounds} rounds of ${seconds} s for each server`);
      await interleave(rounds, {
        ours: async () => {
          const fromMs = Date.now();
          const p99 = await measure("ours", target);
          measuredRanges.push({ fromMs, toMs: Date.now() });
          return p99;
        },
        bare: () => measure("bare", { ...target, url: bareServer.url }),
      });
    } finally {
      await bareServer.close();
      await service.end();
    }
    const ticksPerSecond: number[] = [];
    try {
      for (const { fromMs, toMs } of measuredRanges) {
        const ticks = await countStoredTicks(service.dataDir, fromMs, toMs);
        ticksPerSecond.push((ticks * 1_000) / (toMs - fromMs));
      }
    } finally {
      await service.close();
    }
    const samplesOf = (pick: (result: FixedRateResult) => number) => ({
      samples: results.ours.map(pick),
      baseline: { name: "bare node:http during the same ingest", samples: results.bare.map(pick) },
    });
    return [
      createBenchRow({ figure: "p50", unit: "ms", ...samplesOf((result) => result.p50Ms) }),
      createBenchRow({
        figure: "p99",
        unit: "ms",
        ...samplesOf((result) => result.p99Ms),
        target: { of: "median", bound: "at_most", value: P99_MS_MAX },
      }),
      createBenchRow({ figure: "p99.9", unit: "ms", ...samplesOf((result) => result.p999Ms) }),
      createBenchRow({
        figure: "ticks stored",
        unit: "ticks/s",
        samples: ticksPerSecond,
        target: { of: "median", bound: "at_least", value: LIVELY_TICKS_PER_SECOND_MIN },
        note: "counted in the store after the service stopped",
      }),
    ];
  },
};

/** Counts the ticks in an embedded store received in [fromMs, toMs), Unix milliseconds. The service must be stopped. */
async function countStoredTicks(dataDir: string, fromMs: number, toMs: number): Promise<number> {
  const database = await openEmbeddedDatabase({ dataDir, log: quietLog });
  try {
    const [row] = await database.query<{ count: number }>(
      `select count(*) as count from ticks
       where received_at >= to_timestamp($1::float8 / 1000) and received_at < to_timestamp($2::float8 / 1000)`,
      [fromMs, toMs],
    );
    return row?.count ?? 0;
  } finally {
    await database.close();
  }
}
