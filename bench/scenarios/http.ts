import { startBareServer } from "../harness/bare-server.ts";
import { type LoadTarget, measureThroughput } from "../harness/load.ts";
import { cpuSecondsOf } from "../harness/process-usage.ts";
import { interleave } from "../harness/rounds.ts";
import { type BenchRow, createBenchRow, type Scenario } from "../harness/scenario.ts";
import { type BenchService, openService, QUIET_WORLD_SETTINGS } from "../harness/service.ts";

const ROUNDS = 9;
const ROUNDS_WITHOUT_TARGET = 3;
const ROUND_SECONDS = 4;
const RATIO_MIN = 0.6;
/** Warm-up time; long enough for the first sweeps, the backfill and JIT compilation to finish. */
const WARM_UP_SECONDS = 10;

export const httpScenario: Scenario = {
  name: "http",
  describe:
    "Requests/s of one market with its key check, compared with a bare node:http server with the same response.",
  async run(options) {
    const service = await openService(QUIET_WORLD_SETTINGS);
    try {
      const seconds = options.quick ? 1 : ROUND_SECONDS;
      const rounds = options.rounds ?? (options.quick ? 3 : ROUNDS);
      const roundsWithoutTarget = options.quick ? 1 : ROUNDS_WITHOUT_TARGET;
      const rows: BenchRow[] = [];
      for (const route of [
        { figure: "one market", path: service.marketPath, rounds, hasTarget: true },
        { figure: "list of 30 markets", path: "/v1/markets", rounds: roundsWithoutTarget, hasTarget: false },
        { figure: "status only", path: "/livez", rounds: roundsWithoutTarget, hasTarget: false },
      ]) {
        options.print(`${route.figure}: ${route.rounds} rounds of ${seconds} s for each server`);
        const warmUpSeconds = route.hasTarget && !options.quick ? WARM_UP_SECONDS : 1;
        rows.push(...(await compareWithBareServer(service, { ...route, seconds, warmUpSeconds })));
      }
      return rows;
    } finally {
      await service.close();
    }
  },
};

async function compareWithBareServer(
  service: BenchService,
  route: { figure: string; path: string; rounds: number; hasTarget: boolean; seconds: number; warmUpSeconds: number },
): Promise<BenchRow[]> {
  const target: LoadTarget = { url: `${service.url}${route.path}`, headers: service.headers };
  const bareServer = await startBareServer(target);
  try {
    /** CPU time per request in microseconds; more stable on a shared machine than throughput. */
    const cpuMicrosPerRequest = { ours: [] as number[], bare: [] as number[] };
    const measure = async (name: keyof typeof cpuMicrosPerRequest, pid: number, measuredTarget: LoadTarget) => {
      const cpuSecondsBefore = await cpuSecondsOf(pid);
      const requestsPerSecond = await measureThroughput(measuredTarget, route.seconds);
      const cpuSecondsAfter = await cpuSecondsOf(pid);
      if (cpuSecondsBefore !== null && cpuSecondsAfter !== null)
        cpuMicrosPerRequest[name].push(
          ((cpuSecondsAfter - cpuSecondsBefore) * 1e6) / (requestsPerSecond * route.seconds),
        );
      return requestsPerSecond;
    };
    const bareTarget = { ...target, url: `${bareServer.url}${route.path}` };
    await measureThroughput(target, route.warmUpSeconds);
    await measureThroughput(bareTarget, 1);
    const samples = await interleave(route.rounds, {
      ours: () => measure("ours", service.pid, target),
      bare: () => measure("bare", bareServer.pid, bareTarget),
    });
    const rows = [
      createBenchRow({
        figure: route.figure,
        unit: "requests/s",
        samples: samples.ours,
        baseline: { name: "bare node:http", samples: samples.bare },
        target: route.hasTarget ? { of: "ratio", bound: "at_least", value: RATIO_MIN } : undefined,
      }),
    ];
    if (cpuMicrosPerRequest.ours.length > 0) {
      rows.push(
        createBenchRow({
          figure: `${route.figure}, CPU time`,
          unit: "µs/request",
          samples: cpuMicrosPerRequest.ours,
          baseline: { name: "bare node:http", samples: cpuMicrosPerRequest.bare },
        }),
      );
    }
    return rows;
  } finally {
    await bareServer.close();
  }
}
