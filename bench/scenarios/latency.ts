import { startBareServer } from "../harness/bare-server.ts";
import { LIVELY_TICKS_PER_SECOND, openLivelyService } from "../harness/lively-world.ts";
import { type LoadTarget, type PacedResult, sendAtFixedRate } from "../harness/load.ts";
import { interleave } from "../harness/rounds.ts";
import { benchRow, type Scenario } from "../harness/scenario.ts";
import { countStoredTicks } from "../harness/stored-ticks.ts";

const PER_SECOND = 2_000;
const SECONDS = 20;
const ROUNDS = 3;
const P99_MS_MAX = 10;
/** The first sweep and JIT compilation have finished by then. */
const WARM_UP_SECONDS = 10;

export const latencyScenario: Scenario = {
  name: "latency",
  describe: `p99 of one market with its key check at a fixed ${PER_SECOND} requests/s while ingest stores ${LIVELY_TICKS_PER_SECOND} ticks/s or more.`,
  async run(options) {
    const service = await openLivelyService();
    const target: LoadTarget = { url: `${service.url}${service.marketPath}`, headers: service.headers };
    const bare = await startBareServer(target);
    const seconds = options.quick ? 3 : SECONDS;
    const rounds = options.rounds ?? (options.quick ? 1 : ROUNDS);
    const results = { ours: [] as PacedResult[], bare: [] as PacedResult[] };
    const ranges: { fromMs: number; toMs: number }[] = [];
    const measure = async (name: "ours" | "bare", measuredTarget: LoadTarget) => {
      const result = await sendAtFixedRate(measuredTarget, { perSecond: PER_SECOND, seconds });
      if (result.failed > 0) throw new Error(`${result.failed} of ${result.sent} requests failed (${name})`);
      results[name].push(result);
      return result.p99Ms;
    };
    try {
      await sendAtFixedRate(target, { perSecond: PER_SECOND, seconds: options.quick ? 2 : WARM_UP_SECONDS });
      options.print(`${rounds} rounds of ${seconds} s for each server`);
      await interleave(rounds, {
        ours: async () => {
          const fromMs = Date.now();
          const p99 = await measure("ours", target);
          ranges.push({ fromMs, toMs: Date.now() });
          return p99;
        },
        bare: () => measure("bare", { ...target, url: bare.url }),
      });
    } finally {
      await bare.close();
      await service.end();
    }
    const ticksPerSecond: number[] = [];
    try {
      for (const { fromMs, toMs } of ranges) {
        const ticks = await countStoredTicks(service.dataDir, fromMs, toMs);
        ticksPerSecond.push((ticks * 1_000) / (toMs - fromMs));
      }
    } finally {
      await service.close();
    }
    const samplesOf = (pick: (result: PacedResult) => number) => ({
      samples: results.ours.map(pick),
      yardstick: { name: "bare node:http during the same ingest", samples: results.bare.map(pick) },
    });
    return [
      benchRow({ figure: "p50", unit: "ms", ...samplesOf((result) => result.p50Ms) }),
      benchRow({
        figure: "p99",
        unit: "ms",
        ...samplesOf((result) => result.p99Ms),
        target: { of: "median", bound: "at_most", value: P99_MS_MAX },
      }),
      benchRow({ figure: "p99.9", unit: "ms", ...samplesOf((result) => result.p999Ms) }),
      benchRow({
        figure: "ticks stored",
        unit: "ticks/s",
        samples: ticksPerSecond,
        target: { of: "median", bound: "at_least", value: LIVELY_TICKS_PER_SECOND },
        note: "counted in the store after the service stopped",
      }),
    ];
  },
};
