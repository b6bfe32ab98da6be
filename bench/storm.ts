/**
 * The whole system under all faults of its venues at once, and with one venue frozen.
 *
 *   node bench/storm.ts [--seconds 120] [--rate 0.25] [--markets 200]
 *   node bench/storm.ts --frozen [--rounds 7] [--markets 200]
 *
 * The first prints what was asked and answered, what broke a rule, the memory of the service, how often each fault
 * happened, what health counted, and how long after the last fault every market is the simulator's again, by venue. A
 * table on standard error has each switch of each venue beside what health counted for it; the exit code is 1 where a
 * switch fired and nothing was counted that had to be. The second compares, round by round in turn, the answer times of
 * the venues that work while another one is frozen and while none is. Results are one JSON object on standard output.
 */
import { parseArgs } from "node:util";
import { countFaults, faultCountTable } from "../test/support/venues/fault-counts.ts";
import {
  everySwitch,
  type FaultStorm,
  findWrongMarkets,
  openFaultStorm,
  residentBytes,
  watchAnswers,
} from "../test/support/venues/fault-storm.ts";

const RECOVERY_MS_MAX = 60_000;
const ROUND_MS = 6_000;
const FROZEN = "polymarket";
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
const say = (line: string) => process.stderr.write(`${line}\n`);
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const storm = await openFaultStorm({ marketCount: Number(values.markets) });
try {
  const result = values.frozen ? await compareFrozen(storm) : await weather(storm);
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
} finally {
  await storm.end();
}

async function weather({ service }: FaultStorm) {
  const rate = Number(values.rate);
  const calmBytes = await residentBytes(service.pid);
  let highestBytes = calmBytes;
  const watch = watchAnswers(service);
  await storm.setFaults("all", await everySwitch(storm, rate));
  const until = performance.now() + Number(values.seconds) * 1_000;
  while (performance.now() < until) {
    await sleep(1_000);
    highestBytes = Math.max(highestBytes, await residentBytes(service.pid));
  }
  await storm.setFaults("all", {});
  const since = Date.now();
  say("all switches are off");
  const recovery: { afterMs: number; untrue: number; examples: readonly string[] }[] = [];
  /** By venue, when the first look was over that found all its markets true and none untrue after it. */
  const trueAfterMs: Record<string, number | null> = {};
  for (;;) {
    const { wrong, compared } = await findWrongMarkets(storm, since);
    // A look takes a while, and what it found is known at its end.
    const afterMs = Date.now() - since;
    recovery.push({ afterMs, untrue: wrong.length, examples: wrong.slice(0, 5) });
    for (const venue of compared.keys()) {
      if (wrong.some((market) => market.startsWith(`${venue}/`))) trueAfterMs[venue] = null;
      else trueAfterMs[venue] ??= afterMs;
    }
    say(
      `${afterMs} ms: ${wrong.length} untrue of ${[...compared].map(([venue, count]) => `${count} ${venue}`).join(", ")}`,
    );
    if (wrong.length === 0 || afterMs > RECOVERY_MS_MAX) break;
    await sleep(100);
  }
  const report = await watch.stop();
  const health = (await service.get("/v1/health")).json;
  const happened = await storm.happened();
  const venues = Object.entries<{ drops: Record<string, number>; stream: string; status: string }>(
    health.checks.venues,
  );
  const accounts = countFaults(happened, Object.fromEntries(venues.map(([venue, { drops }]) => [venue, drops])));
  say(faultCountTable(accounts));
  const unaccounted = accounts.filter(({ isUncounted }) => isUncounted);
  if (unaccounted.length > 0) process.exitCode = 1;
  return {
    faults: { rate, seconds: Number(values.seconds), happened },
    accounts,
    unaccounted: unaccounted.map(({ venue, fault }) => `${venue} ${fault}`),
    ...report,
    memory: {
      calmMib: Math.round(calmBytes / MIB),
      highestMib: Math.round(highestBytes / MIB),
      afterMib: Math.round((await residentBytes(service.pid)) / MIB),
    },
    drops: Object.fromEntries(venues.map(([venue, { drops, stream, status }]) => [venue, { status, stream, drops }])),
    trueAfterMs,
    recovery,
  };
}

/** Answer times of the venues that are not frozen, calm and frozen in turn. */
async function compareFrozen({ service }: FaultStorm) {
  const list = await service.get("/v1/markets?limit=100");
  const others = list.json.filter(({ platform }: { platform: string }) => platform !== FROZEN);
  const paths = others.flatMap(({ platform, market_id: id }: { platform: string; market_id: string }) => {
    const one = `/v1/markets/${platform}/${encodeURIComponent(id)}`;
    return [one, `/v1/markets?source=${platform}&limit=50`, `${one}/history?period=48h`];
  });
  // What has to be fetched once is fetched before.
  for (const path of paths) await service.get(path);
  const measure = async (): Promise<{ p50: number; p99: number; answers: number }> => {
    const times: number[] = [];
    const until = performance.now() + ROUND_MS;
    for (let turn = 0; performance.now() < until; turn++) {
      const begun = performance.now();
      const { status } = await service.get(paths[turn % paths.length] ?? "/v1/health");
      if (status !== 200) throw new Error(`${paths[turn % paths.length]} answered ${status}`);
      times.push(performance.now() - begun);
    }
    times.sort((a, b) => a - b);
    const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN;
    return { p50: at(0.5), p99: at(0.99), answers: times.length };
  };
  const rounds: { calm: object; frozen: object; ratioP99: number; differenceP99Ms: number }[] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    const isFrozenFirst = round % 2 === 1;
    const measured: Record<string, Awaited<ReturnType<typeof measure>>> = {};
    for (const state of isFrozenFirst ? ["frozen", "calm"] : ["calm", "frozen"]) {
      await storm.setFaults(FROZEN, state === "frozen" ? { frozen: 1, socket_frozen: 1 } : {});
      // The venue's requests under way end, or begin to hang, before anything is measured.
      await sleep(1_500);
      measured[state] = await measure();
    }
    const { calm, frozen } = measured;
    if (calm === undefined || frozen === undefined) continue;
    rounds.push({ calm, frozen, ratioP99: frozen.p99 / calm.p99, differenceP99Ms: frozen.p99 - calm.p99 });
    say(`round ${round + 1}: p99 calm ${calm.p99.toFixed(2)} ms, frozen ${frozen.p99.toFixed(2)} ms`);
  }
  await storm.setFaults(FROZEN, {});
  const median = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
  return {
    frozenVenue: FROZEN,
    medianRatioP99: median(rounds.map(({ ratioP99 }) => ratioP99)),
    medianDifferenceP99Ms: median(rounds.map(({ differenceP99Ms }) => differenceP99Ms)),
    rounds,
  };
}
