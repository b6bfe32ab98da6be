import { startBareServer } from "../harness/bare-server.ts";
import { type LoadTarget, saturate } from "../harness/load.ts";
import { cpuSecondsOf } from "../harness/process-usage.ts";
import { interleave } from "../harness/rounds.ts";
import { type BenchRow, benchRow, type Scenario } from "../harness/scenario.ts";
import { type BenchService, openService } from "../harness/service.ts";

const ROUNDS = 9;
const ROUNDS_WITHOUT_TARGET = 3;
const SECONDS = 4;
const RATIO_MIN = 0.6;
/** First sweeps, backfill and JIT compilation have finished by then. */
const WARM_UP_SECONDS = 10;
/** Almost no ingest: the figure measures request handling only. */
const QUIET = { PARALLAX_SANDBOX_MARKETS: "10", PARALLAX_SANDBOX_SPEED: "1" };

export const httpScenario: Scenario = {
  name: "http",
  describe: "Requests/s of one market with its key check, against a bare node:http server with the same response.",
  async run(options) {
    const service = await openService(QUIET);
    try {
      const seconds = options.quick ? 1 : SECONDS;
      const rounds = options.rounds ?? (options.quick ? 3 : ROUNDS);
      const fewRounds = options.quick ? 1 : ROUNDS_WITHOUT_TARGET;
      const rows: BenchRow[] = [];
      for (const route of [
        { figure: "one market", path: service.marketPath, rounds, hasTarget: true },
        { figure: "list of 30 markets", path: "/v1/markets", rounds: fewRounds, hasTarget: false },
        { figure: "status only", path: "/livez", rounds: fewRounds, hasTarget: false },
      ]) {
        options.print(`${route.figure}: ${route.rounds} rounds of ${seconds} s for each server`);
        const warmUpSeconds = route.hasTarget && !options.quick ? WARM_UP_SECONDS : 1;
        rows.push(...(await compare(service, { ...route, seconds, warmUpSeconds })));
      }
      return rows;
    } finally {
      await service.close();
    }
  },
};

async function compare(
  service: BenchService,
  route: { figure: string; path: string; rounds: number; hasTarget: boolean; seconds: number; warmUpSeconds: number },
): Promise<BenchRow[]> {
  const target: LoadTarget = { url: `${service.url}${route.path}`, headers: service.headers };
  const bare = await startBareServer(target);
  try {
    /** CPU time per request in microseconds; more stable on a shared machine than throughput. */
    const cpuTimes = { ours: [] as number[], bare: [] as number[] };
    const measure = async (name: keyof typeof cpuTimes, pid: number, measuredTarget: LoadTarget) => {
      const before = await cpuSecondsOf(pid);
      const perSecond = await saturate(measuredTarget, route.seconds);
      const after = await cpuSecondsOf(pid);
      if (before !== null && after !== null)
        cpuTimes[name].push(((after - before) * 1e6) / (perSecond * route.seconds));
      return perSecond;
    };
    const bareTarget = { ...target, url: `${bare.url}${route.path}` };
    await saturate(target, route.warmUpSeconds);
    await saturate(bareTarget, 1);
    const samples = await interleave(route.rounds, {
      ours: () => measure("ours", service.pid, target),
      bare: () => measure("bare", bare.pid, bareTarget),
    });
    const rows = [
      benchRow({
        figure: route.figure,
        unit: "requests/s",
        samples: samples.ours,
        yardstick: { name: "bare node:http", samples: samples.bare },
        target: route.hasTarget ? { of: "ratio", bound: "at_least", value: RATIO_MIN } : undefined,
      }),
    ];
    if (cpuTimes.ours.length > 0) {
      rows.push(
        benchRow({
          figure: `${route.figure}, CPU time`,
          unit: "µs/request",
          samples: cpuTimes.ours,
          yardstick: { name: "bare node:http", samples: cpuTimes.bare },
        }),
      );
    }
    return rows;
  } finally {
    await bare.close();
  }
}
