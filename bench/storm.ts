/**
 * Runs the whole system with all venue faults enabled, or with one venue frozen.
 *
 *   node bench/storm.ts [--seconds 120] [--rate 0.25] [--markets 200]
 *   node bench/storm.ts --frozen [--rounds 7] [--markets 200]
 *
 * The first command prints the number of responses, rule violations, the service's memory, the injected faults, the
 * drop counts in health, and the time until all quotes are correct after the last fault, by venue. A table on standard
 * error compares injected faults with drop counts; the exit code is 1 if a required count is missing. The second
 * command compares response times of the other venues with and without a frozen venue, in alternating rounds, and counts
 * the order books of the other venues that are not served while clients request those of the frozen venue. The result is
 * one line of JSON on standard output.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { eventually } from "../test/support/service-process.ts";
import { countFaults, faultCountTable } from "../test/support/venues/fault-counts.ts";
import {
  everySwitch,
  type FaultStorm,
  findWrongMarkets,
  openFaultStorm,
  residentBytes,
  watchResponses,
} from "../test/support/venues/fault-storm.ts";
import { interleave } from "./harness/rounds.ts";
import { quantiles, spreadOf } from "./harness/statistics.ts";

const RECOVERY_MS_MAX = 60_000;
const ROUND_MS = 6_000;
const FROZEN_VENUE = "polymarket";
/** The other venues that have order books. */
const BOOK_VENUES = ["kalshi", "limitless"];
/** Clients that request order books of the frozen venue at the same time. */
const FROZEN_READER_COUNT = 4;
const FROZEN_PAUSE_MS = 50;
/** Order books of the other venues that are requested while a venue is frozen. */
const BOOK_COUNT = 40;
/** Few requests per second, so that no request exceeds the limits of a venue. */
const BOOK_PAUSE_MS = 100;
const DEADLINE_MS = 120_000;
/**
 * Time until the service counts a fault that is no response: the timeout of a request (5 s, more if the venue is slow), or
 * the longest silence of a stream. Later faults of these kinds end with the storm and cannot be counted.
 */
const COUNTED_AFTER_MS: Readonly<Record<string, number>> = { frozen: 10_000, socket_frozen: 60_000 };
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

const storm = await openFaultStorm({ marketCount: Number(values.markets) });
try {
  const result = values.frozen ? await compareFrozen(storm) : await measureStorm(storm);
  process.stdout.write(`${JSON.stringify(result)}\n`);
} catch (error) {
  if (isRunning(storm.service.pid)) throw error;
  print(storm.service.output());
  process.stdout.write(`${JSON.stringify({ hasExited: true })}\n`);
  process.exitCode = 1;
} finally {
  await storm.end();
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function measureStorm({ service }: FaultStorm) {
  const rate = Number(values.rate);
  // Without a complete sweep, the service has no quotes that faults could make wrong.
  await eventually(
    async () => {
      const { checks } = (await service.get("/v1/health")).json;
      const venues = Object.values<{ sweep: { completed: number } }>(checks?.venues ?? {});
      return venues.length > 0 && venues.every(({ sweep }) => sweep.completed > 0) ? true : null;
    },
    "a complete sweep of each venue",
    DEADLINE_MS,
  );
  const initialBytes = await residentBytes(service.pid);
  let highestBytes = initialBytes;
  const watcher = watchResponses(service);
  await storm.setFaults("all", await everySwitch(storm, rate));
  const stormEndsAt = performance.now() + Number(values.seconds) * 1_000;
  /** Number of injected faults of a kind that the storm left enough time to count, by kind and venue. */
  const countableFaults: Record<string, Record<string, number>> = {};
  while (performance.now() < stormEndsAt) {
    await sleep(1_000);
    highestBytes = Math.max(highestBytes, await residentBytes(service.pid));
    const injectedNow = await storm.injectedFaults();
    for (const [fault, countedAfterMs] of Object.entries(COUNTED_AFTER_MS)) {
      if (performance.now() > stormEndsAt - countedAfterMs) continue;
      const counts = Object.entries(injectedNow).map(([venue, faults]) => [venue, faults[fault] ?? 0]);
      countableFaults[fault] = Object.fromEntries(counts);
    }
  }
  await storm.setFaults("all", {});
  const faultsEndedAt = Date.now();
  print("all switches off");
  const recovery: { afterMs: number; wrong: number; examples: readonly string[] }[] = [];
  /** Time until all quotes of a venue are correct and stay correct. */
  const correctAfterMs: Record<string, number | null> = {};
  for (;;) {
    const { wrong, compared, readAt } = await findWrongMarkets(storm, faultsEndedAt);
    const afterMs = readAt - faultsEndedAt;
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
  const drops = Object.fromEntries(venues.map(([venue, state]) => [venue, state.drops]));
  const rows = countFaults(injected, drops).map((row) => {
    const isCountable = !(row.fault in COUNTED_AFTER_MS) || (countableFaults[row.fault]?.[row.venue] ?? 0) > 0;
    return { ...row, isUncounted: row.isUncounted && isCountable };
  });
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
    drops: Object.fromEntries(
      venues.map(([venue, { drops: counts, stream, status }]) => [venue, { status, stream, drops: counts }]),
    ),
    correctAfterMs,
    recovery,
  };
}

/** Compares response times of the other venues with and without a frozen venue, in alternating rounds. */
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
    const [p50, p99] = quantiles(durationsMs, [0.5, 0.99]);
    return { p50, p99, responses: durationsMs.length };
  };
  const measureState = async (state: "frozen" | "healthy") => {
    await storm.setFaults(FROZEN_VENUE, state === "frozen" ? { frozen: 1, socket_frozen: 1 } : {});
    // By the start of the measurement, requests that were pending have ended or have been frozen by the fault.
    await sleep(1_500);
    return measure();
  };
  const samples = await interleave(Number(values.rounds), {
    healthy: () => measureState("healthy"),
    frozen: () => measureState("frozen"),
  });
  const rounds = samples.healthy.flatMap((healthy, round) => {
    const frozen = samples.frozen[round];
    if (frozen === undefined) return [];
    print(`round ${round + 1}: p99 healthy ${healthy.p99.toFixed(2)} ms, frozen ${frozen.p99.toFixed(2)} ms`);
    return { healthy, frozen, ratioP99: frozen.p99 / healthy.p99, differenceP99Ms: frozen.p99 - healthy.p99 };
  });
  const books = await readBooks(service);
  return {
    frozenVenue: FROZEN_VENUE,
    books,
    medianRatioP99: spreadOf(rounds.map(({ ratioP99 }) => ratioP99)).median,
    medianDifferenceP99Ms: spreadOf(rounds.map(({ differenceP99Ms }) => differenceP99Ms)).median,
    rounds,
  };
}

/** Reads order books of the other venues while clients request those of the frozen venue. */
async function readBooks(service: FaultStorm["service"]) {
  // A list of all venues may contain no market of one of them.
  const listBookPaths = async (venue: string): Promise<string[]> => {
    const list = await service.get(`/v1/markets?source=${venue}&limit=100`);
    if (list.status !== 200 || list.json.length === 0) throw new Error(`no market of ${venue} is listed`);
    return list.json.map(
      ({ market_id: id }: { market_id: string }) => `/v1/markets/${venue}/${encodeURIComponent(id)}/orderbook`,
    );
  };
  const frozenPaths = await listBookPaths(FROZEN_VENUE);
  const otherPaths = await Promise.all(BOOK_VENUES.map(listBookPaths));
  let isReading = true;
  let frozenUnserved = 0;
  const readFrozen = async (firstIndex: number) => {
    for (let index = firstIndex; isReading; index += FROZEN_READER_COUNT) {
      const { status, json } = await service.get(frozenPaths[index % frozenPaths.length] ?? "");
      // A stale response is the last known order book.
      if (status !== 200 || json.stale === true) frozenUnserved += 1;
      await sleep(FROZEN_PAUSE_MS);
    }
  };
  let served = 0;
  let unserved = 0;
  await storm.setFaults(FROZEN_VENUE, { frozen: 1, socket_frozen: 1 });
  const readers = Promise.all(Array.from({ length: FROZEN_READER_COUNT }, (_, reader) => readFrozen(reader)));
  try {
    await eventually(
      async () => (frozenUnserved > 0 ? true : null),
      `an order book of ${FROZEN_VENUE} that is not served`,
      DEADLINE_MS,
    );
    for (let index = 0; index < BOOK_COUNT; index++) {
      const paths = otherPaths[index % otherPaths.length] ?? [];
      const { status } = await service.get(paths[Math.floor(index / otherPaths.length) % paths.length] ?? "");
      if (status === 200) served += 1;
      else unserved += 1;
      await sleep(BOOK_PAUSE_MS);
    }
  } finally {
    isReading = false;
    await storm.setFaults(FROZEN_VENUE, {});
    await readers;
  }
  return { served, unserved, frozenUnserved };
}
