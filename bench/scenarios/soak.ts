import { LIVELY_TICKS_PER_SECOND, LIVELY_WORLD } from "../harness/lively-world.ts";
import { residentMibOf } from "../harness/process-usage.ts";
import { benchRow, type Scenario, SkippedError } from "../harness/scenario.ts";
import { openService } from "../harness/service.ts";
import { spreadOf } from "../harness/statistics.ts";
import { countStoredTicks } from "../harness/stored-ticks.ts";

const MINUTES = 20;
const MINUTES_QUICK = 1;
const LOOK_EVERY_MS = 10_000;
/** Share of the run after which memory is expected to be steady: minute 5 of 20. */
const SETTLED_SHARE = 0.25;
const GROWTH_PERCENT_MAX = 5;

export const soakScenario: Scenario = {
  name: "soak",
  describe: `${MINUTES} minutes at some ${LIVELY_TICKS_PER_SECOND} ticks/s: memory every 10 s, which may grow by 5% from minute 5 on (--minutes N).`,
  async run(options) {
    const minutes = options.minutes ?? (options.quick ? MINUTES_QUICK : MINUTES);
    const service = await openService(LIVELY_WORLD);
    const samples: number[] = [];
    const fromMs = Date.now();
    const untilMs = fromMs + minutes * 60_000;
    try {
      while (Date.now() < untilMs) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
        const mib = await residentMibOf(service.pid);
        if (mib === null) throw new SkippedError("memory of another process can be read on Linux only");
        samples.push(mib);
        if (samples.length % 6 === 0) options.say(`minute ${samples.length / 6}: ${Math.round(mib)} MiB`);
        const { status } = await service.get("/readyz");
        if (status !== 200) throw new Error(`/readyz answered ${status}`);
      }
    } finally {
      await service.end();
    }
    const ticks = await countStoredTicks(service.dataDir, fromMs, untilMs).finally(() => service.close());
    const settled = samples.slice(Math.floor(samples.length * SETTLED_SHARE));
    // A fifth at each end: one sample may fall just before a collection, a median of several does not.
    const fifth = Math.max(1, Math.floor(settled.length / 5));
    const early = spreadOf(settled.slice(0, fifth)).median;
    const late = spreadOf(settled.slice(-fifth)).median;
    return [
      benchRow({
        figure: "growth of resident memory",
        unit: "%",
        samples: [(late / early - 1) * 100],
        target: { of: "median", bound: "at_most", value: GROWTH_PERCENT_MAX },
        note: `${Math.round(early)} MiB after a quarter of ${minutes} minutes, ${Math.round(late)} MiB at the end (medians of ${fifth} samples)`,
      }),
      benchRow({ figure: "resident memory", unit: "MiB", samples }),
      benchRow({ figure: "ticks stored", unit: "ticks/s", samples: [ticks / (minutes * 60)] }),
    ];
  },
};
