import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { firstLineOf, temporaryFolder } from "../../test/support/service-process.ts";
import { endProcess } from "../harness/child-process.ts";
import { type LoadTarget, measureThroughput } from "../harness/load.ts";
import { cpuSecondsOf } from "../harness/process-usage.ts";
import { interleave } from "../harness/rounds.ts";
import { type BenchRow, createBenchRow, type Scenario } from "../harness/scenario.ts";

const PROGRAM_FILE = fileURLToPath(new URL("../programs/metered-server.ts", import.meta.url));
const ROUNDS = 9;
const ROUND_SECONDS = 4;
const WARM_UP_SECONDS = 3;
/** Minimum share of the baseline's throughput: authentication, limits and quota may reduce the throughput by at most 35%. */
const RATIO_MIN = 0.65;

interface ServerAddresses {
  readonly urls: { readonly metered: string; readonly shared: string | null; readonly open: string };
  readonly key: string;
  readonly path: string;
}

export const meteringScenario: Scenario = {
  name: "metering",
  describe:
    "Requests/s of one market with authentication, limits and quota, compared with the same route without them.",
  async run(options) {
    const folder = await temporaryFolder();
    const child = spawn(process.execPath, [PROGRAM_FILE, folder.path], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const { urls, key, path }: ServerAddresses = JSON.parse(await firstLineOf(child));
      const headers = { authorization: `Bearer ${key}` };
      const rounds = options.rounds ?? (options.quick ? 3 : ROUNDS);
      const seconds = options.quick ? 1 : ROUND_SECONDS;
      const openTarget = { url: `${urls.open}${path}`, headers: {} };
      const rows = await compare(child, { url: `${urls.metered}${path}`, headers }, openTarget, {
        name: "metered",
        rounds,
        seconds,
        hasTarget: true,
      });
      if (urls.shared === null) {
        options.print("limits in Redis are skipped: TEST_REDIS_URL is not set");
        return rows;
      }
      const sharedLimitsTarget = { url: `${urls.shared}${path}`, headers };
      const comparison = { name: "metered, limits in Redis", rounds: Math.min(3, rounds), seconds, hasTarget: false };
      return [...rows, ...(await compare(child, sharedLimitsTarget, openTarget, comparison))];
    } finally {
      await endProcess(child);
      await folder.release();
    }
  },
};

async function compare(
  child: ChildProcess,
  meteredTarget: LoadTarget,
  openTarget: LoadTarget,
  { name, rounds, seconds, hasTarget }: { name: string; rounds: number; seconds: number; hasTarget: boolean },
): Promise<BenchRow[]> {
  /** CPU time per request in microseconds. */
  const cpuMicrosPerRequest = { metered: [] as number[], open: [] as number[] };
  const measure = async (server: keyof typeof cpuMicrosPerRequest, target: LoadTarget) => {
    const cpuSecondsBefore = await cpuSecondsOf(child.pid ?? 0);
    const requestsPerSecond = await measureThroughput(target, seconds);
    const cpuSecondsAfter = await cpuSecondsOf(child.pid ?? 0);
    if (cpuSecondsBefore !== null && cpuSecondsAfter !== null)
      cpuMicrosPerRequest[server].push(((cpuSecondsAfter - cpuSecondsBefore) * 1e6) / (requestsPerSecond * seconds));
    return requestsPerSecond;
  };
  await measureThroughput(meteredTarget, WARM_UP_SECONDS);
  await measureThroughput(openTarget, WARM_UP_SECONDS);
  const samples = await interleave(rounds, {
    metered: () => measure("metered", meteredTarget),
    open: () => measure("open", openTarget),
  });
  const baselineName = "same route without metering";
  return [
    createBenchRow({
      figure: name,
      unit: "requests/s",
      samples: samples.metered,
      baseline: { name: baselineName, samples: samples.open },
      target: hasTarget ? { of: "ratio", bound: "at_least", value: RATIO_MIN } : undefined,
    }),
    ...(cpuMicrosPerRequest.metered.length === 0
      ? []
      : [
          createBenchRow({
            figure: `${name}, CPU time`,
            unit: "µs/request",
            samples: cpuMicrosPerRequest.metered,
            baseline: { name: baselineName, samples: cpuMicrosPerRequest.open },
          }),
        ]),
  ];
}
