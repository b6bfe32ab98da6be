/**
 * Runs the whole system with all venue faults enabled, or with one venue frozen.
 *
 *   node bench/storm.ts [--seconds 120] [--rate 0.25] [--markets 200]
 *   node bench/storm.ts --frozen [--rounds 7] [--markets 200]
 *
 * The first command prints the number of responses, rule violations, the service's memory, the injected faults, the
 * drop counts in health, and the time until all quotes are correct after the last fault, by venue. A table on standard
 * error compares injected faults with drop counts; the exit code is 1 if a required count is missing. The second
 * command compares response durationsMs of the other venues with and without a frozen venue, in alternating rounds. The
 * result is one JSON object on standard output.
 */
import { parseArgs } from "node:util";
import { countFaults, faultCountTable } from "../test/support/venues/fault-counts.ts";
import {
  everySwitch,
  type FaultStorm,
  findWrongMarkets,
  openFaultStorm,
  residentBytes,
  watchResponses,
} from "../test/support/venues/fault-storm.ts";

const RECOVERY_MS_MAX = 60_000;
const ROUND_MS = 6_000;
const FROZEN_VENUE = "polymarket";
const MIB = 1024 * 1024;

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "120" },
    rate: { type: "string", default: "0.25" },
    markets: { type: "string", default: "200" },
    rounds: { type: "string", default: "7" },
    frozen: { type: "boolean", default: false },
  },
});
const print = (line: string) => process.stderr.write(`${line}\n`);
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const storm = await openFaultStorm({ marketCount: Number(values.markets) });
try {
  const result = values.frozen ? await compareFrozen(storm) : await measureStorm(storm);
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
} finally {
  await storm.end();
}

async function measureStorm({ service }: FaultStorm) {
  const rate = Number(values.rate);
  const initialBytes = await residentBytes(service.pid);
  let highestBytes = initialBytes;
  const watcher = watchResponses(service);
  await storm.setFaults("all", await everySwitch(storm, rate));
  const stormEndsAt = performance.now() + Number(values.seconds) * 1_000;
  while (performance.now() < stormEndsAt) {
    await sleep(1_000);
    highestBytes = Math.max(highestBytes, await residentBytes(service.pid));
  }
  await storm.setFaults("all", {});
  const faultsEndedAt = Date.now();
  print("all switches off");
  const recovery: { afterMs: number; wrong: number; examples: readonly string[] }[] = [];
  /** Time until all quotes of a venue are correct and stay correct. */
  const correctAfterMs: Record<string, number | null> = {};
  for (;;) {
    const { wrong, compared } = await findWrongMarkets(storm, faultsEndedAt);
    // Measured after the comparison, because the comparison takes time.
    const afterMs = Date.now() - faultsEndedAt;
    recovery.push({ afterMs, wrong: wrong.length, examples: wrong.slice(0, 5) });
    for (const venue of compared.keys()) {
      if (wrong.some((market) => market.startsWith(`${venue}/`))) correctAfterMs[venue] = null;
      else correctAfterMs[venue] ??= afterMs;
    }
    print(
      `${afterMs} ms: ${wrong.length} wrong of ${[...compared].map(([venue, count]) => `${count} ${venue}`).join(", ")}`,
    );
    if (wrong.length === 0 || afterMs > RECOVERY_MS_MAX) break;
    await sleep(100);
  }
  const watchReport = await watcher.stop();
  const health = (await service.get("/v1/health")).json;
  const injected = await storm.injectedFaults();
  const venues = Object.entries<{ drops: Record<string, number>; stream: string; status: string }>(
    health.checks.venues,
  );
  const rows = countFaults(injected, Object.fromEntries(venues.map(([venue, { drops }]) => [venue, drops])));
  print(faultCountTable(rows));
  const uncounted = rows.filter(({ isUncounted }) => isUncounted);
  if (uncounted.length > 0) process.exitCode = 1;
  return {
    faults: { rate, seconds: Number(values.seconds), injected },
    rows,
    uncounted: uncounted.map(({ venue, fault }) => `${venue} ${fault}`),
    ...watchReport,
    memory: {
      baselineMib: Math.round(initialBytes / MIB),
      highestMib: Math.round(highestBytes / MIB),
      afterMib: Math.round((await residentBytes(service.pid)) / MIB),
    },
    drops: Object.fromEntries(venues.map(([venue, { drops, stream, status }]) => [venue, { status, stream, drops }])),
    correctAfterMs,
    recovery,
  };
}

/** Compares response durationsMs of the other venues with and without a frozen venue, in alternating rounds. */
async function compareFrozen({ service }: FaultStorm) {
  const list = await service.get("/v1/markets?limit=100");
  const otherMarkets = list.json.filter(({ platform }: { platform: string }) => platform !== FROZEN_VENUE);
  const paths = otherMarkets.flatMap(({ platform, market_id: id }: { platform: string; market_id: string }) => {
    const marketPath = `/v1/markets/${platform}/${encodeURIComponent(id)}`;
    return [marketPath, `/v1/markets?source=${platform}&limit=50`, `${marketPath}/history?period=48h`];
  });
  // Warm-up: the service fetches history from a venue only at the first request.
  for (const path of paths) await service.get(path);
  const measure = async (): Promise<{ p50: number; p99: number; responses: number }> => {
    const durationsMs: number[] = [];
    const roundEndsAt = performance.now() + ROUND_MS;
    for (let index = 0; performance.now() < roundEndsAt; index++) {
      const startTime = performance.now();
      const { status } = await service.get(paths[index % paths.length] ?? "/v1/health");
      if (status !== 200) throw new Error(`${paths[index % paths.length]} returned ${status}`);
      durationsMs.push(performance.now() - startTime);
    }
    durationsMs.sort((a, b) => a - b);
    const quantileAt = (share: number) => durationsMs[Math.floor(durationsMs.length * share)] ?? Number.NaN;
    return { p50: quantileAt(0.5), p99: quantileAt(0.99), responses: durationsMs.length };
  };
  const rounds: { healthy: object; frozen: object; ratioP99: number; differenceP99Ms: number }[] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    const isFrozenFirst = round % 2 === 1;
    const resultsByState: Record<string, Awaited<ReturnType<typeof measure>>> = {};
    for (const state of isFrozenFirst ? ["frozen", "healthy"] : ["healthy", "frozen"]) {
      await storm.setFaults(FROZEN_VENUE, state === "frozen" ? { frozen: 1, socket_frozen: 1 } : {});
      // Pending requests to the venue finish or freeze before the measurement starts.
      await sleep(1_500);
      resultsByState[state] = await measure();
    }
    const { healthy, frozen } = resultsByState;
    if (healthy === undefined || frozen === undefined) continue;
    rounds.push({ healthy, frozen, ratioP99: frozen.p99 / healthy.p99, differenceP99Ms: frozen.p99 - healthy.p99 });
    print(`round ${round + 1}: p99 healthy ${healthy.p99.toFixed(2)} ms, frozen ${frozen.p99.toFixed(2)} ms`);
  }
  await storm.setFaults(FROZEN_VENUE, {});
  const median = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
  return {
    frozenVenue: FROZEN_VENUE,
    medianRatioP99: median(rounds.map(({ ratioP99 }) => ratioP99)),
    medianDifferenceP99Ms: median(rounds.map(({ differenceP99Ms }) => differenceP99Ms)),
    rounds,
  };
}
