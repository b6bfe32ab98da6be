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
const LOOK_EVERY_MS = 10_000;
const LOOKS_PER_MINUTE = 6;
/** Share of the run after which memory is expected to be steady: minute 5 of 20. */
const SETTLED_SHARE = 0.25;
const GROWTH_PERCENT_MAX = 5;
const MIB = 2 ** 20;

/** What was seen of the service at one moment. */
interface Look {
  readonly atMs: number;
  readonly residentMib: number;
  readonly heapMib: number;
  readonly bufferMib: number;
  readonly ticks: number;
  readonly boardMarkets: number;
}

export const soakScenario: Scenario = {
  name: "soak",
  describe: `${MINUTES} minutes at ${LIVELY_TICKS_PER_SECOND} ticks/s or more: memory every 10 s, which may grow by 5% from minute 5 on (--minutes N).`,
  async run(options) {
    const minutes = options.minutes ?? (options.quick ? MINUTES_QUICK : MINUTES);
    const service = await openLivelyService();
    const looks: Look[] = [];
    let missed = 0;
    try {
      const begunAt = performance.now();
      const count = minutes * LOOKS_PER_MINUTE;
      for (let turn = 1; turn <= count; turn++) {
        const pauseMs = begunAt + turn * LOOK_EVERY_MS - performance.now();
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, pauseMs)));
        // A look in vain is counted and judged at the end: what the others tell is worth keeping.
        const seen = await look(service).catch((error: unknown) => {
          options.say(`no answer: ${error instanceof Error ? error.message : String(error)}`);
          return null;
        });
        if (seen === null) missed += 1;
        else looks.push(seen);
        if (turn % LOOKS_PER_MINUTE === 0) options.say(`minute ${turn / LOOKS_PER_MINUTE}: ${tell(looks)}`);
        if ((await residentMibOf(service.pid)) === null) {
          if (looks.length === 0) throw new SkippedError("memory of another process can be read on Linux only");
          throw new Error(`the service ended: ${tell(looks)}\n${service.output().slice(-2_000)}`);
        }
      }
    } finally {
      await service.close();
    }
    const settled = looks.slice(Math.floor(looks.length * SETTLED_SHARE));
    // A fifth at each end: one sample may fall just before a collection, a median of several does not.
    const fifth = Math.max(1, Math.floor(settled.length / 5));
    const medianOf = (part: readonly Look[], pick: (seen: Look) => number) => spreadOf(part.map(pick)).median;
    const growth = (pick: (seen: Look) => number) => {
      const early = medianOf(settled.slice(0, fifth), pick);
      const late = medianOf(settled.slice(-fifth), pick);
      const note = `${Math.round(early)} MiB after a quarter of ${minutes} minutes, ${Math.round(late)} MiB at the end (medians of ${fifth} samples)`;
      return { samples: [(late / early - 1) * 100], note };
    };
    return [
      benchRow({
        figure: "growth of resident memory",
        unit: "%",
        target: { of: "median", bound: "at_most", value: GROWTH_PERCENT_MAX },
        ...growth((seen) => seen.residentMib),
      }),
      benchRow({ figure: "resident memory", unit: "MiB", samples: looks.map((seen) => seen.residentMib) }),
      benchRow({ figure: "growth of the main heap", unit: "%", ...growth((seen) => seen.heapMib) }),
      benchRow({ figure: "growth of buffers", unit: "%", ...growth((seen) => seen.bufferMib) }),
      benchRow({ figure: "markets on the board", unit: "markets", samples: looks.map((seen) => seen.boardMarkets) }),
      benchRow({
        figure: "ticks stored",
        unit: "ticks/s",
        samples: ratesOf(looks),
        target: { of: "median", bound: "at_least", value: LIVELY_TICKS_PER_SECOND },
        note: "as the service counts them once the store has taken them over",
      }),
      benchRow({
        figure: "looks without an answer",
        unit: "looks",
        samples: [missed],
        target: { of: "median", bound: "at_most", value: 0 },
      }),
    ];
  },
};

async function look(service: LivelyService): Promise<Look> {
  const { status } = await service.get("/readyz");
  if (status !== 200) throw new Error(`/readyz answered ${status}`);
  const metrics = await service.metrics();
  const residentMib = await residentMibOf(service.pid);
  const read = (name: string) => {
    const value = metrics.get(name);
    if (value === undefined) throw new Error(`/metrics does not tell ${name}`);
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

/** Ticks a second between each look and the next. */
function ratesOf(looks: readonly Look[]): number[] {
  return looks.slice(1).map((seen, index) => {
    const before = looks[index] ?? seen;
    return ((seen.ticks - before.ticks) * 1_000) / (seen.atMs - before.atMs);
  });
}

function tell(looks: readonly Look[]): string {
  const last = looks.at(-1);
  if (last === undefined) return "nothing seen yet";
  const rates = ratesOf(looks.slice(-LOOKS_PER_MINUTE - 1));
  const rate = rates.length === 0 ? "unknown" : Math.round(spreadOf(rates).median);
  const { residentMib, heapMib, bufferMib, boardMarkets } = last;
  return `${Math.round(residentMib)} MiB resident, ${Math.round(heapMib)} MiB heap, ${Math.round(bufferMib)} MiB buffers, ${boardMarkets} markets, ${rate} ticks/s`;
}
