import { setTimeout as sleep } from "node:timers/promises";
import {
  LIVELY_TICKS_PER_SECOND_MIN,
  type LivelyService,
  openLivelyService,
  TICKS_WRITTEN_METRIC,
} from "../harness/lively-world.ts";
import { descriptorsOf, residentMibOf } from "../harness/process-usage.ts";
import { createBenchRow, type Scenario, SkippedError } from "../harness/scenario.ts";
import { spreadOf } from "../harness/statistics.ts";

const MINUTES = 20;
const MINUTES_QUICK = 1;
const OBSERVATION_INTERVAL_MS = 10_000;
const OBSERVATIONS_PER_MINUTE = 6;
/** Share of the run after which memory must not grow: from minute 5 of 20. */
const STABLE_FROM_SHARE = 0.25;
const GROWTH_PERCENT_MAX = 5;
const RUN_MS_MAX = 25;
/** Interval of the timer that measures event-loop delay. Each measured delay includes one interval. */
const LOOP_DELAY_INTERVAL_MS = 10;
const MIB = 2 ** 20;

/** Memory and counters of the service at one time. */
interface Observation {
  readonly atMs: number;
  readonly residentMib: number;
  readonly heapMib: number;
  readonly bufferMib: number;
  readonly descriptors: number;
  readonly ticks: number;
  readonly boardMarkets: number;
  /** Longest delay of the main thread's event loop since the observation before. */
  readonly loopDelayMs: number;
}

export const soakScenario: Scenario = {
  name: "soak",
  describe: `${MINUTES} minutes at ${LIVELY_TICKS_PER_SECOND_MIN} ticks/s or more: memory every 10 s, with at most 5% growth after minute 5 (--minutes N).`,
  async run(options) {
    const minutes = options.minutes ?? (options.quick ? MINUTES_QUICK : MINUTES);
    const service = await openLivelyService();
    const observations: Observation[] = [];
    let failedCount = 0;
    try {
      const startTime = performance.now();
      const observationCount = minutes * OBSERVATIONS_PER_MINUTE;
      for (let index = 1; index <= observationCount; index++) {
        const pauseMs = startTime + index * OBSERVATION_INTERVAL_MS - performance.now();
        await sleep(Math.max(0, pauseMs));
        // A failed observation is counted and does not end the run.
        const observation = await observe(service).catch((error: unknown) => {
          options.print(`no response: ${error instanceof Error ? error.message : String(error)}`);
          return null;
        });
        if (observation === null) failedCount += 1;
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
    const stableObservations = observations.slice(Math.floor(observations.length * STABLE_FROM_SHARE));
    // Medians over a fifth of the samples at each end: a single sample may include garbage that is not yet collected.
    const endSampleCount = Math.max(1, Math.floor(stableObservations.length / 5));
    const medianOf = (observed: readonly Observation[], pick: (observation: Observation) => number) =>
      spreadOf(observed.map(pick)).median;
    const growthOf = (pick: (observation: Observation) => number) => {
      const startMib = medianOf(stableObservations.slice(0, endSampleCount), pick);
      const endMib = medianOf(stableObservations.slice(-endSampleCount), pick);
      const note = `${Math.round(startMib)} MiB after a quarter of ${minutes} minutes, ${Math.round(endMib)} MiB at the end (medians of ${endSampleCount} samples)`;
      return { samples: [(endMib / startMib - 1) * 100], note };
    };
    const descriptorsChange = () => {
      const start = medianOf(stableObservations.slice(0, endSampleCount), ({ descriptors }) => descriptors);
      const end = medianOf(stableObservations.slice(-endSampleCount), ({ descriptors }) => descriptors);
      return { samples: [Math.abs(end - start)], note: `${start} after a quarter of the time, ${end} at the end` };
    };
    return [
      createBenchRow({
        figure: "growth of resident memory",
        unit: "%",
        target: { of: "median", bound: "at_most", value: GROWTH_PERCENT_MAX },
        ...growthOf((observation) => observation.residentMib),
      }),
      createBenchRow({
        figure: "resident memory",
        unit: "MiB",
        samples: observations.map((observation) => observation.residentMib),
      }),
      createBenchRow({
        figure: "growth of the main heap",
        unit: "%",
        ...growthOf((observation) => observation.heapMib),
      }),
      createBenchRow({ figure: "growth of buffers", unit: "%", ...growthOf((observation) => observation.bufferMib) }),
      createBenchRow({
        figure: "change of open file descriptors",
        unit: "descriptors",
        ...descriptorsChange(),
      }),
      createBenchRow({
        figure: "longest event-loop delay of the main thread",
        unit: "ms",
        samples: stableObservations.map(({ loopDelayMs }) => Math.max(0, loopDelayMs - LOOP_DELAY_INTERVAL_MS)),
        target: { of: "worst", bound: "at_most", value: RUN_MS_MAX },
        note: "delay of the event loop in each 10 s, which includes waiting for a core",
      }),
      createBenchRow({
        figure: "markets on the board",
        unit: "markets",
        samples: observations.map((observation) => observation.boardMarkets),
      }),
      createBenchRow({
        figure: "ticks stored",
        unit: "ticks/s",
        samples: ratesOf(observations),
        target: { of: "median", bound: "at_least", value: LIVELY_TICKS_PER_SECOND_MIN },
        note: "counted by the service after each write",
      }),
      createBenchRow({
        figure: "failed observations",
        unit: "observations",
        samples: [failedCount],
        target: { of: "median", bound: "at_most", value: 0 },
      }),
    ];
  },
};

async function observe(service: LivelyService): Promise<Observation> {
  const { status } = await service.get("/readyz");
  if (status !== 200) throw new Error(`/readyz returned ${status}`);
  const metrics = await service.readMetrics();
  const residentMib = await residentMibOf(service.pid);
  const read = (name: string) => {
    const value = metrics.get(name);
    if (value === undefined) throw new Error(`/metrics has no ${name}`);
    return value;
  };
  const descriptors = await descriptorsOf(service.pid);
  if (residentMib === null || descriptors === null)
    throw new Error("the service's memory or descriptors cannot be read");
  return {
    atMs: performance.now(),
    residentMib,
    heapMib: read("nodejs_heap_size_used_bytes") / MIB,
    descriptors,
    bufferMib: read("nodejs_external_memory_bytes") / MIB,
    ticks: read(TICKS_WRITTEN_METRIC),
    boardMarkets: read("parallax_board_markets"),
    loopDelayMs: 1_000 * read("nodejs_eventloop_lag_max_seconds"),
  };
}

/** Ticks per second between consecutive observations. */
function ratesOf(observations: readonly Observation[]): number[] {
  return observations.slice(1).map((observation, index) => {
    const previous = observations[index] ?? observation;
    return ((observation.ticks - previous.ticks) * 1_000) / (observation.atMs - previous.atMs);
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
