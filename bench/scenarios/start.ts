import { setTimeout as pause } from "node:timers/promises";
import { temporaryFolder } from "../../test/support/service-process.ts";
import { createBenchRow, type Scenario } from "../harness/scenario.ts";
import { startAndWait } from "../support/started-service.ts";

const RESTART_COUNT = 5;
/** Time from readiness to SIGTERM. */
const RUNNING_MS = 3_000;

export const startScenario: Scenario = {
  name: "start",
  describe: "Time from the start until /readyz returns 200, with a new and an existing data directory.",
  async run(options) {
    const folder = await temporaryFolder();
    try {
      const firstStart = await startOnce(folder.path);
      const restarts = [];
      const restartCount = options.rounds ?? (options.quick ? 2 : RESTART_COUNT);
      for (let index = 0; index < restartCount; index++) restarts.push(await startOnce(folder.path));
      return [
        createBenchRow({ figure: "first start", unit: "ms until ready", samples: [firstStart.readyMs] }),
        createBenchRow({ figure: "restart", unit: "ms until ready", samples: restarts.map(({ readyMs }) => readyMs) }),
        createBenchRow({
          figure: "stop",
          unit: "ms after SIGTERM",
          samples: [firstStart, ...restarts].map(({ stopMs }) => stopMs),
          note: "includes the grace period of two seconds",
        }),
      ];
    } finally {
      await folder.release();
    }
  },
};

async function startOnce(dataDir: string): Promise<{ readyMs: number; stopMs: number }> {
  const service = await startAndWait(dataDir);
  await pause(RUNNING_MS);
  return { readyMs: service.readyMs, stopMs: await service.stop() };
}
