/**
 * Benchmark of the arbitrage list and the live scan.
 *
 *   node bench/arbitrage.ts [--pairs 10000] [--changes 200000] [--markets 400] [--rounds 20] [--spread 0.02] [--limits]
 *
 * - `change_us`: time of one change of a price on a board on which every market belongs to a pair, with and without the
 *   arbitrage service (`change_without_us`).
 * - `list_ms`: time of `GET /v1/arbitrage` without HTTP, for all pairs and a spread of at least 0.02.
 * - `scan_ms`: time of `GET /v1/arbitrage/live` without a network, on a sandbox in the same process whose
 *   pairs are the true ones. `--limits` applies the venues' published limits. Scans are 3 seconds apart, so that every book
 *   is read again.
 */
import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { systemClock } from "../src/adapters/system/system-clock.ts";
import { systemRandom } from "../src/adapters/system/system-random.ts";
import { MarketBoard } from "../src/board/index.ts";
import { ensureDemoKeys } from "../src/capabilities/accounts/keys/index.ts";
import { createArbitrageService } from "../src/capabilities/markets/arbitrage/index.ts";
import { roundTo } from "../src/lib/numbers.ts";
import { embeddedDatabase } from "../test/support/databases.ts";
import { ScriptedPairs, samplePair } from "../test/support/markets/arbitrage-api.ts";
import { sampleMarket } from "../test/support/markets/market-samples.ts";
import { eventually, temporaryFolder } from "../test/support/service-process.ts";
import { liftLimits } from "../test/support/venues/lifted-limits.ts";
import { testSandbox } from "../test/support/venues/sandbox.ts";
import { buildSandboxApp } from "../test/support/venues/sandbox-app.ts";
import { readTruePairs } from "../test/support/venues/true-pairs.ts";
import { spreadOf } from "./harness/statistics.ts";
import { seededRandom } from "./synthetic-markets.ts";

const { values: flags } = parseArgs({
  options: {
    pairs: { type: "string", default: "10000" },
    changes: { type: "string", default: "200000" },
    markets: { type: "string", default: "400" },
    rounds: { type: "string", default: "20" },
    spread: { type: "string", default: "0.02" },
    limits: { type: "boolean", default: false },
  },
});
const SCAN_PAUSE_MS = 3_000;
const LISTS = 50;
const FEE = { kind: "quadratic", rate: 0.07, exponent: 1, rounding: { feeStep: 0.0001, balanceStep: 0.01 } } as const;

function measureChanges(hasService: boolean) {
  const board = new MarketBoard(() => Date.now());
  const pairs = new ScriptedPairs();
  const venues = ["alpha", "beta"];
  const health = {
    status: "ok",
    lastSuccessAt: Date.now(),
    sweep: { rows: 0, total: 0, completed: 1, incomplete: 0 },
  } as const;
  const service = hasService
    ? createArbitrageService({
        board,
        clock: systemClock,
        pairs,
        venues,
        readBook: async () => null,
        venueHealth: () => ({ alpha: health, beta: health }),
      })
    : null;
  const random = seededRandom(3);
  const pairCount = Number(flags.pairs);
  for (let index = 0; index < pairCount; index++) {
    for (const venue of venues)
      board.apply(
        sampleMarket(`m${index}`, {
          listing: { venue, eventId: `e${index >> 2}`, takerFee: FEE },
          quote: { receivedAt: Date.now() },
        }),
        Date.now(),
      );
    pairs.set(samplePair(`m${index}`));
  }
  const changeCount = Number(flags.changes);
  const startedAt = performance.now();
  for (let count = 0; count < changeCount; count++) {
    const bid = (1 + random.integer(95)) / 100;
    board.applyQuote(random.pick(venues), `m${random.integer(pairCount)}`, { bid, ask: bid + 0.01 }, Date.now());
  }
  const changeUs = ((performance.now() - startedAt) * 1_000) / changeCount;
  const listMs = Array.from({ length: service === null ? 0 : LISTS }, () => {
    const listStartedAt = performance.now();
    service?.list({ minSpread: 0.02, minNetSpread: null, venue: null, limit: 50 });
    return performance.now() - listStartedAt;
  });
  return { changeUs, listMs: spreadOf(listMs).median };
}

async function measureScans() {
  const sandbox = await testSandbox({ marketCount: Number(flags.markets), enforceLimits: flags.limits, speed: 1 });
  const pairs = new ScriptedPairs();
  for (const pair of await readTruePairs(sandbox)) pairs.set(pair);
  const database = await embeddedDatabase();
  const folder = await temporaryFolder();
  const keys = await ensureDemoKeys(database, folder.path, { random: systemRandom, clock: systemClock });
  await liftLimits(database);
  await rm(folder.path, { recursive: true });
  const { app, close } = await buildSandboxApp({
    sandbox,
    database,
    areLimitsLifted: !flags.limits,
    matchedPairs: pairs,
  });
  await app.metering.start();
  await app.http.ready();
  app.start();
  app.http.lifecycle.markReady();
  await eventually(() => (app.ingest.isSettled ? true : null), "the first sweeps", 600_000);
  const times: number[] = [];
  let last = { opportunities: 0, read: 0, failed: 0 };
  for (let round = 0; round < Number(flags.rounds); round++) {
    await sleep(SCAN_PAUSE_MS);
    const startedAt = performance.now();
    const response = await app.http.inject({
      url: `/v1/arbitrage/live?min_spread=${flags.spread}&limit=200&expand=scoring`,
      headers: { authorization: `Bearer ${keys.enterprise}` },
    });
    times.push(performance.now() - startedAt);
    const { count, venues } = response.json();
    const sum = (name: string) =>
      Object.values(venues as Record<string, Record<string, number>>).reduce(
        (total, venue) => total + (venue[name] ?? 0),
        0,
      );
    last = { opportunities: count, read: sum("books_refreshed"), failed: sum("books_failed") };
  }
  await close();
  await sandbox.close();
  return { median: spreadOf(times).median, max: Math.max(...times), ...last };
}

const without = measureChanges(false);
const withService = measureChanges(true);
const scans = await measureScans();
process.stdout.write(
  `${JSON.stringify({
    node: process.version,
    pairs: Number(flags.pairs),
    changes: Number(flags.changes),
    limits: flags.limits,
    change_us: roundTo(withService.changeUs, 2),
    change_without_us: roundTo(without.changeUs, 2),
    list_ms: roundTo(withService.listMs, 2),
    scan_p50_ms: roundTo(scans.median, 2),
    scan_max_ms: roundTo(scans.max, 2),
    opportunities: scans.opportunities,
    books_read: scans.read,
    books_failed: scans.failed,
  })}\n`,
);
process.exit(0);
