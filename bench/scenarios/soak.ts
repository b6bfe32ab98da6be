import {
  LIVELY_TICKS_PER_SECOND,
  type LivelyService,
  openLivelyService,
  TICKS_WRITTEN,
} from "../harness/lively-world.ts";
import { residentMibOf } from "../harness/process-usage.ts";
import { benchRow, type Scenario, SkippedError } from "../harness/scenario.ts";
import { spreadOf } from "../harness/statistics.ts";

const MINUTES = 20;
const MINUTES_QUICK = 1;
const OBSERVATION_INTERVAL_MS = 10_000;
const OBSERVATIONS_PER_MINUTE = 6;
/** Share of the run after which memory should no longer grow: minute 5 of 20. */
const STABLE_FROM_SHARE = 0.25;
const GROWTH_PERCENT_MAX = 5;
const MIB = 2 ** 20;

/** One observation of the service. */
interface Observation {
  readonly atMs: number;
  readonly residentMib: number;
  readonly heapMib: number;
  readonly bufferMib: number;
  readonly ticks: number;
  readonly boardMarkets: number;
}

export const soakScenario: Scenario = {
  name: "soak",
  describe: `${MINUTES} minutes at ${LIVELY_TICKS_PER_SECOND} ticks/s or more: memory every 10 s, with at most 5% growth after minute 5 (--minutes N).`,
  async run(options) {
    const minutes = options.minutes ?? (options.quick ? MINUTES_QUICK : MINUTES);
    const service = await openLivelyService();
    const observations: Observation[] = [];
    let failed = 0;
    try {
      const startTime = performance.now();
      const count = minutes * OBSERVATIONS_PER_MINUTE;
      for (let index = 1; index <= count; index++) {
        const pauseMs = startTime + index * OBSERVATION_INTERVAL_MS - performance.now();
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, pauseMs)));
        // A failed observation is counted and does not end the run.
        const observation = await observe(service).catch((error: unknown) => {
          options.print(`no response: ${error instanceof Error ? error.message : String(error)}`);
          return null;
        });
        if (observation === null) failed += 1;
        else observations.push(observation);
        if (index % OBSERVATIONS_PER_MINUTE === 0)
          options.print(`minute ${index / OBSERVATIONS_PER_MINUTE}: ${summarise(observations)}`);
        if ((await residentMibOf(service.pid)) === null) {
          if (observations.length === 0)
            throw new SkippedError("the memory of another process can be read only on Linux");
          throw new Error(`the service exited: ${summarise(observations)}\n${service.output().slice(-2_000)}`);
        }
      }
    } finally {
      await service.close();
    }
    const stable = observations.slice(Math.floor(observations.length * STABLE_FROM_SHARE));
    // Medians over a fifth of the samples at each end: a single sample may precede a garbage collection.
    const fifth = Math.max(1, Math.floor(stable.length / 5));
    const medianOf = (observed: readonly Observation[], pick: (observation: Observation) => number) =>
      spreadOf(observed.map(pick)).median;
    const growth = (pick: (observation: Observation) => number) => {
      const early = medianOf(stable.slice(0, fifth), pick);
      const late = medianOf(stable.slice(-fifth), pick);
      const note = `${Math.round(early)} MiB after a quarter of ${minutes} minutes, ${Math.round(late)} MiB at the end (medians of ${fifth} samples)`;
      return { samples: [(late / early - 1) * 100], note };
    };
    return [
      benchRow({
        figure: "growth of resident memory",
        unit: "%",
        target: { of: "median", bound: "at_most", value: GROWTH_PERCENT_MAX },
        ...growth((observation) => observation.residentMib),
      }),
      benchRow({
        figure: "resident memory",
        unit: "MiB",
        samples: observations.map((observation) => observation.residentMib),
      }),
      benchRow({ figure: "growth of the main heap", unit: "%", ...growth((observation) => observation.heapMib) }),
      benchRow({ figure: "growth of buffers", unit: "%", ...growth((observation) => observation.bufferMib) }),
      benchRow({
        figure: "markets on the board",
        unit: "markets",
        samples: observations.map((observation) => observation.boardMarkets),
      }),
      benchRow({
        figure: "ticks stored",
        unit: "ticks/s",
        samples: ratesOf(observations),
        target: { of: "median", bound: "at_least", value: LIVELY_TICKS_PER_SECOND },
        note: "counted by the service after each write",
      }),
      benchRow({
        figure: "failed observations",
        unit: "observations",
        samples: [failed],
        target: { of: "median", bound: "at_most", value: 0 },
      }),
    ];
  },
};

async function observe(service: LivelyService): Promise<Observation> {
  const { status } = await service.get("/readyz");
  if (status !== 200) throw new Error(`/readyz returned ${status}`);
  const metrics = await service.metrics();
  const residentMib = await residentMibOf(service.pid);
  const read = (name: string) => {
    const value = metrics.get(name);
    if (value === undefined) throw new Error(`/metrics has no ${name}`);
    return value;
  };
  if (residentMib === null) throw new Error("the service's memory cannot be read");
  return {
    atMs: performance.now(),
    residentMib,
    heapMib: read("nodejs_heap_size_used_bytes") / MIB,
    bufferMib: read("nodejs_external_memory_bytes") / MIB,
    ticks: read(TICKS_WRITTEN),
    boardMarkets: read("parallax_board_markets"),
  };
}

/** Ticks per second between consecutive observations. */
function ratesOf(observations: readonly Observation[]): number[] {
  return observations.slice(1).map((observation, index) => {
    const before = observations[index] ?? observation;
    return ((observation.ticks - before.ticks) * 1_000) / (observation.atMs - before.atMs);
  });
}

function summarise(observations: readonly Observation[]): string {
  const last = observations.at(-1);
  if (last === undefined) return "no observation yet";
  const rates = ratesOf(observations.slice(-OBSERVATIONS_PER_MINUTE - 1));
  const rate = rates.length === 0 ? "unknown" : Math.round(spreadOf(rates).median);
  const { residentMib, heapMib, bufferMib, boardMarkets } = last;
  return `${Math.round(residentMib)} MiB resident, ${Math.round(heapMib)} MiB heap, ${Math.round(bufferMib)} MiB buffers, ${boardMarkets} markets, ${rate} ticks/s`;
}
