import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { firstLineOf, temporaryFolder } from "../../test/support/service-process.ts";
import { type LoadTarget, saturate } from "../harness/load.ts";
import { cpuSecondsOf } from "../harness/process-usage.ts";
import { interleave } from "../harness/rounds.ts";
import { type BenchRow, benchRow, type Scenario } from "../harness/scenario.ts";

const PROGRAM = fileURLToPath(new URL("../programs/metered-server.ts", import.meta.url));
const ROUNDS = 9;
const SECONDS = 4;
const WARM_UP_SECONDS = 3;
/** Authentication, limits and quota may cpuTimes at most 35% of the throughput. */
const RATIO_MIN = 0.65;

interface Servers {
  readonly urls: { readonly metered: string; readonly shared: string | null; readonly open: string };
  readonly key: string;
  readonly path: string;
}

export const meteringScenario: Scenario = {
  name: "metering",
  describe: "Requests/s of one market with authentication, limits and quota, against the same route without them.",
  async run(options) {
    const folder = await temporaryFolder();
    const child = spawn(process.execPath, [PROGRAM, folder.path], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const { urls, key, path }: Servers = JSON.parse(await firstLineOf(child));
      const headers = { authorization: `Bearer ${key}` };
      const rounds = options.rounds ?? (options.quick ? 3 : ROUNDS);
      const seconds = options.quick ? 1 : SECONDS;
      const open = { url: `${urls.open}${path}`, headers: {} };
      const rows = await compare(child, { url: `${urls.metered}${path}`, headers }, open, {
        name: "metered",
        rounds,
        seconds,
        hasTarget: true,
      });
      if (urls.shared === null) {
        options.print("limits over Redis are skipped: TEST_REDIS_URL is not set");
        return rows;
      }
      const shared = { url: `${urls.shared}${path}`, headers };
      const run = { name: "metered, limits in Redis", rounds: Math.min(3, rounds), seconds, hasTarget: false };
      return [...rows, ...(await compare(child, shared, open, run))];
    } finally {
      const exit = once(child, "exit");
      child.kill();
      await exit;
      await folder.release();
    }
  },
};

async function compare(
  child: ChildProcess,
  metered: LoadTarget,
  open: LoadTarget,
  { name, rounds, seconds, hasTarget }: { name: string; rounds: number; seconds: number; hasTarget: boolean },
): Promise<BenchRow[]> {
  /** CPU time per request in microseconds. */
  const cpuTimes = { metered: [] as number[], open: [] as number[] };
  const measure = async (server: keyof typeof cpuTimes, target: LoadTarget) => {
    const before = await cpuSecondsOf(child.pid ?? 0);
    const perSecond = await saturate(target, seconds);
    const after = await cpuSecondsOf(child.pid ?? 0);
    if (before !== null && after !== null) cpuTimes[server].push(((after - before) * 1e6) / (perSecond * seconds));
    return perSecond;
  };
  await saturate(metered, WARM_UP_SECONDS);
  await saturate(open, WARM_UP_SECONDS);
  const samples = await interleave(rounds, {
    metered: () => measure("metered", metered),
    open: () => measure("open", open),
  });
  const yardstick = "same route without metering";
  return [
    benchRow({
      figure: name,
      unit: "requests/s",
      samples: samples.metered,
      yardstick: { name: yardstick, samples: samples.open },
      target: hasTarget ? { of: "ratio", bound: "at_least", value: RATIO_MIN } : undefined,
    }),
    ...(cpuTimes.metered.length === 0
      ? []
      : [
          benchRow({
            figure: `${name}, CPU time`,
            unit: "µs/request",
            samples: cpuTimes.metered,
            yardstick: { name: yardstick, samples: cpuTimes.open },
          }),
        ]),
  ];
}
