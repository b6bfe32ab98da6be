/**
 * Benchmark of the market board at full size. It measures the start from a stored state, memory, and the latency of
 * lists, searches and event lists over HTTP while the ingest applies changes.
 *
 *   node bench/board.ts [--markets 300000] [--changes 2000] [--rounds 300] [--json file] [--keep folder]
 *
 * One process runs the real service: embedded database, restore, HTTP with key checks, ingest and recorder. Its venues
 * are simulated: half of the changes are streamed quotes, half are sweep pages with new prices, volumes and liquidity.
 * The benchmark process sends one request at a time over one connection and every kind of request once per round, so
 * all kinds are measured under the same noise. Latency is measured from sending the request to the last byte.
 *
 * - `restore_s`: from the open database to a board whose lists are ready.
 * - `ready_s`: from the start of the process until it listens, including the replay of the database log after a crash.
 * - `rss_start_mb`, `rss_end_mb`: resident memory of the service at its start and after all requests.
 * - `cpu_share`: CPU seconds of the service per second, over all threads.
 *
 * `--keep` sets a folder for the database. The first run fills the database, and the next runs reuse it.
 */
import { type ChildProcess, fork } from "node:child_process";
import { access, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openEmbeddedDatabase } from "../src/adapters/database/embedded-database.ts";
import { migrateDatabase } from "../src/adapters/database/migrations.ts";
import { ensureStoreIdentity } from "../src/adapters/database/store-identity.ts";
import { createPinoLog } from "../src/adapters/system/pino-log.ts";
import { systemClock } from "../src/adapters/system/system-clock.ts";
import { systemRandom } from "../src/adapters/system/system-random.ts";
import { buildApp } from "../src/app/index.ts";
import { SORT_KEYS } from "../src/board/index.ts";
import { ensureDemoKeys } from "../src/capabilities/accounts/keys/index.ts";
import type { EventListing, MarketSnapshot } from "../src/domain/market.ts";
import { encodeCursor } from "../src/http/pagination.ts";
import { roundTo } from "../src/lib/numbers.ts";
import type { ListingPage, StreamHandlers, VenueAdapter } from "../src/ports/venue.ts";
import { createMarketStore } from "../src/storage/index.ts";
import { plainAppPorts } from "../test/support/app-ports.ts";
import { liftLimits } from "../test/support/venues/lifted-limits.ts";
import { receiveMessage } from "./harness/child-process.ts";
import { quantiles } from "./harness/statistics.ts";
import { createTimedClient } from "./harness/timed-client.ts";
import { type SeededRandom, SYNTHETIC_VENUES, seededRandom, syntheticEvents } from "./synthetic-markets.ts";

const { values: flags } = parseArgs({
  options: {
    markets: { type: "string", default: "300000" },
    changes: { type: "string", default: "2000" },
    rounds: { type: "string", default: "300" },
    json: { type: "string" },
    keep: { type: "string" },
    role: { type: "string", default: "bench" },
    folder: { type: "string", default: "" },
  },
});
const marketCount = Number(flags.markets);
const changesPerSecond = Number(flags.changes);
const roundCount = Number(flags.rounds);
const DEEP_PAGE_COUNT = 200;
const WARM_UP_ROUND_COUNT = 30;
const CHANGE_INTERVAL_MS = 10;
const PAGE_ROWS = 100;
const log = createPinoLog("error");

/** Sent by the service process after its start. */
interface ServiceReport {
  readonly url: string;
  readonly key: string;
  /** Time from the start of the process until it listens. */
  readonly readyMs: number;
  readonly restoreMs: number;
  readonly markets: number;
}

interface ResourceUsage {
  readonly rssMb: number;
  readonly heapMb: number;
  readonly cpuSeconds: number;
  readonly changes: number;
}

/** Fills the database in `folder` with the synthetic markets. */
async function fillDatabase(folder: string): Promise<void> {
  const database = await openEmbeddedDatabase({ dataDir: folder, log });
  await migrateDatabase(database);
  await ensureStoreIdentity(database, { data: "live", seed: null, genesisAt: null });
  const store = createMarketStore(database);
  let markets: MarketSnapshot[] = [];
  let events: EventListing[] = [];
  const write = async () => {
    await store.upsertEvents(events);
    await store.upsertMarkets(markets);
    events = [];
    markets = [];
  };
  for (const group of syntheticEvents({ markets: marketCount, now: Date.now() })) {
    events.push(group.event);
    markets.push(...group.markets);
    if (markets.length >= 1_000) await write();
  }
  await write();
  await database.close();
}

/** Simulates a venue with `rate` changes per second: half as streamed quotes, half in sweep pages. */
function createChangingVenue(
  id: string,
  pickMarket: (random: SeededRandom) => MarketSnapshot,
  rate: number,
  onChange: () => void,
) {
  const random = seededRandom(id.length);
  let sweeps = 0;
  const randomPrice = () => (1 + random.integer(95)) / 100;
  const emptyPage = (): ListingPage => ({ markets: [], events: [], totalRows: null, requestedAt: Date.now() });
  const adapter: VenueAdapter = {
    id,
    playMoney: false,
    profile: {
      requestsPerSecond: 1_000,
      sweepPauseMs: 100,
      sweepMarketsPerSecond: 1_000_000,
      changesPauseMs: null,
      activePollMs: null,
      streamMarketsMax: 500,
      staleAfterMs: 120_000,
      volumeFromTrades: false,
      takersFromTrades: false,
    },
    async *listOpenMarkets(signal) {
      // The first sweep ends immediately, because the board is already restored. The second never ends.
      for (const pauseMs = (1_000 * PAGE_ROWS) / (rate / 2); sweeps++ > 0; ) {
        await systemClock.sleep(pauseMs, signal);
        const requestedAt = Date.now();
        const page = Array.from({ length: PAGE_ROWS }, () => {
          onChange();
          const { listing, quote, activity } = pickMarket(random);
          const bid = randomPrice();
          return {
            listing,
            quote: { ...quote, bid, ask: bid + 0.01, receivedAt: requestedAt },
            activity: { ...activity, volume24hUsd: random() * 1e5, liquidityUsd: random() * 1e4 },
          };
        });
        yield { markets: page, events: [], totalRows: null, requestedAt };
      }
    },
    detailsOf: () => ({ bookType: "clob", ids: {} }),
    getMarkets: async () => emptyPage(),
    findMarket: async () => null,
    getBook: async () => null,
    listTrades: async () => [],
    getHistory: async () => [],
    openStream(handlers: StreamHandlers) {
      let dueChanges = 0;
      let updatedAt = performance.now();
      const timer = setInterval(() => {
        const now = performance.now();
        dueChanges += ((now - updatedAt) / 1_000) * (rate / 2);
        updatedAt = now;
        for (; dueChanges >= 1; dueChanges--) {
          onChange();
          const { listing } = pickMarket(random);
          const bid = randomPrice();
          const receivedAt = Date.now();
          const quote = { bid, ask: bid + 0.01, eventAt: receivedAt };
          handlers.onMessage({ kind: "quote", marketId: listing.marketId, quote, receivedAt });
        }
      }, CHANGE_INTERVAL_MS);
      handlers.onUp();
      return { follow() {}, close: () => clearInterval(timer) };
    },
  };
  return adapter;
}

/** Runs the real service on the filled database with simulated venues. */
async function runService(folder: string): Promise<void> {
  const database = await openEmbeddedDatabase({ dataDir: folder, log });
  await migrateDatabase(database);
  const keys = await ensureDemoKeys(database, folder, { random: systemRandom, clock: systemClock });
  await liftLimits(database);
  let changes = 0;
  const idsOf = new Map<string, string[]>(SYNTHETIC_VENUES.map((id) => [id, []]));
  const pickMarket = (venue: string) => (random: SeededRandom) => {
    const market = app.board.find(venue, random.pick(idsOf.get(venue) ?? []));
    if (market === null) throw new Error("A synthetic market was removed from the board");
    return market;
  };
  const app = await buildApp(
    plainAppPorts({
      database,
      log,
      data: "live",
      version: "bench",
      venues: SYNTHETIC_VENUES.map((id) => ({
        id,
        referenceOnly: false,
        playMoney: false,
        create: () => {
          const rate = changesPerSecond / SYNTHETIC_VENUES.length;
          return createChangingVenue(id, pickMarket(id), rate, () => changes++);
        },
      })),
    }),
  );
  await app.metering.start();
  const startedAt = performance.now();
  const markets = await app.ingest.restore();
  const restoreMs = performance.now() - startedAt;
  const url = await app.http.listen({ host: "127.0.0.1", port: 0 });
  app.http.lifecycle.markReady();
  const report: ServiceReport = { url, key: keys.enterprise, readyMs: performance.now(), restoreMs, markets };
  for (const { listing } of app.board.markets()) idsOf.get(listing.venue)?.push(listing.marketId);
  app.start();
  process.send?.(report);
  process.on("disconnect", () => process.exit(1));
  process.on("message", async (message) => {
    if (message === "end") {
      await app.http.close();
      await app.stop();
      await database.close();
      process.exit(0);
    }
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const usage: ResourceUsage = {
      rssMb: rss / 1e6,
      heapMb: heapUsed / 1e6,
      cpuSeconds: (user + system) / 1e6,
      changes,
    };
    process.send?.(usage);
  });
}

function spawnRole(role: string, folder: string): ChildProcess {
  const args = ["--role", role, "--folder", folder, "--markets", flags.markets, "--changes", flags.changes];
  return fork(new URL(import.meta.url).pathname, args);
}

/** A path, or a function that returns the next path from the URL in the Link header of the previous response. */
type RequestKind = string | ((link: string | null) => string);

function createRequestKinds(): Readonly<Record<string, RequestKind>> {
  const random = seededRandom(7);
  const names = ["Bachewood", "morillski", "Hafezini", "kelmaos"];
  const temperature = "will%20the%20highest%20temperature%20in%20be%20between%20on%202027";
  const kindsBySort = <Sort extends string>(
    sorts: readonly Sort[],
    label: string,
    kindOf: (sort: Sort) => RequestKind,
  ): Record<string, RequestKind> => Object.fromEntries(sorts.map((sort) => [`${label} by ${sort}`, kindOf(sort)]));
  const followPages = (sort: string) => {
    let page = 0;
    const first = `/v1/markets?limit=100&sort=${sort}`;
    return (link: string | null) => (link === null || page++ % DEEP_PAGE_COUNT === 0 ? first : link);
  };
  const distantValues = {
    volume_24h: 1,
    liquidity: null,
    resolution_date: -Date.UTC(2027, 9, 1),
    price_change_24h: null,
  };
  const distantPage = (sort: keyof typeof distantValues) => {
    const order = sort === "resolution_date" ? "asc" : "desc";
    const cursor = encodeCursor({ value: distantValues[sort], id: "south" }, { sort, status: "active", order });
    return `/v1/markets?sort=${sort}&status=active&cursor=${cursor}`;
  };
  return {
    "list, limit 1": "/v1/markets?limit=1",
    ...kindsBySort(SORT_KEYS, "list", (sort) => `/v1/markets?sort=${sort}`),
    "list of 100": "/v1/markets?limit=100",
    ...kindsBySort(["volume_24h", "updated_at", "resolution_date"], "following pages", followPages),
    ...kindsBySort(["volume_24h", "liquidity", "resolution_date", "price_change_24h"], "distant page", distantPage),
    "list of one venue": "/v1/markets?source=eastmarket",
    "list of finalized": "/v1/markets?status=finalized&sort=updated_at",
    "list of one category": "/v1/markets?category=culture&source=southmarket",
    "list of an unknown category": "/v1/markets?category=nothing",
    ...kindsBySort(SORT_KEYS, "search will,", (sort) => `/v1/markets?query=will&sort=${sort}`),
    "search three common words": "/v1/markets?query=will%20the%20on",
    "search three words of one office": "/v1/markets?query=governor%20race%20win",
    "search a prefix": "/v1/markets?query=bitcoin%20abo",
    "search many common words": `/v1/markets?query=${temperature}`,
    "search common words without a match": "/v1/markets?query=temperature%20bitcoin",
    "search a common and a rare word": () =>
      `/v1/markets?query=will%20the%20${random.pick(["kel", "hol", "gre"])}chaford`,
    "search three letters": () => `/v1/markets?query=${random.pick(["bab", "con", "202", "pri", "mor", "100"])}`,
    "search a number": () => `/v1/markets?query=above%20${random.integer(100_000)}`,
    "search a name": () => `/v1/markets?query=${random.pick(names)}`,
    "search an unknown word": "/v1/markets?query=zzyzx",
    "search will in finalized": "/v1/markets?query=will&status=finalized&sort=price_change_24h",
    "search, following pages": (link) => link ?? "/v1/markets?query=will&limit=100",
    events: "/v1/events?limit=20",
    "events of a category": "/v1/events?category=Economics",
    "events featured": "/v1/events?featured=true",
    "events trending": "/v1/events/trending",
    "events search common": "/v1/events/search?q=will%20the",
    "events search many common": `/v1/events/search?q=${temperature}`,
    "events search several": "/v1/events/search?q=senate%20seat%20win",
    "events search a name": () => `/v1/events/search?q=${random.pick(names.slice(0, 3))}`,
    "events search nothing": "/v1/events/search?q=zzyzx",
  };
}

async function runBenchmark(): Promise<void> {
  const folder = flags.keep ?? (await mkdtemp(join(tmpdir(), "parallax-board-")));
  await mkdir(folder, { recursive: true });
  try {
    const isFilled = await access(join(folder, "filled")).then(
      () => true,
      () => false,
    );
    if (!isFilled) {
      const startedAt = performance.now();
      const child = spawnRole("fill", folder);
      const code = await new Promise((resolve) => child.once("exit", resolve));
      if (code !== 0) throw new Error("The database could not be filled");
      await writeFile(join(folder, "filled"), "");
      process.stderr.write(`database filled in ${roundTo((performance.now() - startedAt) / 1_000, 1)} s\n`);
    }
    const service = spawnRole("serve", folder);
    const report = await receiveMessage<ServiceReport>(service);
    const readUsage = () => {
      const usage = receiveMessage<ResourceUsage>(service);
      service.send("usage");
      return usage;
    };
    const usageAtStart = await readUsage();
    // Otherwise a service that still runs after this process would keep the database locked.
    process.once("exit", () => service.kill());
    process.stderr.write(
      `${report.markets} markets: restored in ${roundTo(report.restoreMs / 1_000, 1)} s, process ready after ` +
        `${roundTo(report.readyMs / 1_000, 1)} s, RSS ${roundTo(usageAtStart.rssMb, 0)} MB\n`,
    );
    const get = createTimedClient(report.url, report.key);
    const kinds = Object.entries(createRequestKinds());
    const times = new Map(kinds.map(([kind]) => [kind, [] as number[]]));
    const links = new Map<string, string | null>();
    const bytes = new Map<string, number>();
    let errors = 0;
    let usageBefore = await readUsage();
    let startedAt = performance.now();
    for (let index = -WARM_UP_ROUND_COUNT; index < roundCount; index++) {
      if (index === 0) {
        usageBefore = await readUsage();
        startedAt = performance.now();
      }
      for (const [kind, request] of kinds) {
        const response = await get(typeof request === "string" ? request : request(links.get(kind) ?? null));
        links.set(kind, response.link);
        bytes.set(kind, response.bytes);
        if (index < 0) continue;
        times.get(kind)?.push(response.ms);
        if (response.status === 200) continue;
        errors += 1;
        process.stderr.write(`${kind} returned ${response.status}: ${response.errorText}\n`);
      }
    }
    const seconds = (performance.now() - startedAt) / 1_000;
    const usageAtEnd = await readUsage();
    service.send("end");
    await new Promise((resolve) => service.once("exit", resolve));

    const rows = [...times].map(([kind, all]) => {
      const [p50, p99, max] = quantiles(all, [0.5, 0.99, 1]);
      return {
        kind,
        p50_ms: roundTo(p50, 2),
        p99_ms: roundTo(p99, 2),
        max_ms: roundTo(max, 2),
        bytes: bytes.get(kind) ?? 0,
      };
    });
    const allTimes = [...times.values()].flat();
    const [p50, p99, max] = quantiles(allTimes, [0.5, 0.99, 1]);
    const result = {
      node: process.version,
      cpus: cpus().length,
      markets: report.markets,
      restore_s: roundTo(report.restoreMs / 1_000, 2),
      ready_s: roundTo(report.readyMs / 1_000, 2),
      rss_start_mb: roundTo(usageAtStart.rssMb, 0),
      rss_end_mb: roundTo(usageAtEnd.rssMb, 0),
      heap_end_mb: roundTo(usageAtEnd.heapMb, 0),
      changes_per_second: roundTo((usageAtEnd.changes - usageBefore.changes) / seconds, 0),
      cpu_share: roundTo((usageAtEnd.cpuSeconds - usageBefore.cpuSeconds) / seconds, 2),
      requests: allTimes.length,
      refused: errors,
      requests_per_second: roundTo(allTimes.length / seconds, 0),
      p50_ms: roundTo(p50, 2),
      p99_ms: roundTo(p99, 2),
      max_ms: roundTo(max, 2),
      kinds: rows,
    };
    if (flags.json !== undefined) await writeFile(flags.json, `${JSON.stringify(result, null, 2)}\n`);
    const { kinds: _, ...totals } = result;
    process.stdout.write(`${JSON.stringify(totals)}\n\n${formatTable(rows)}`);
  } finally {
    if (flags.keep === undefined) await rm(folder, { recursive: true, force: true });
  }
}

function formatTable(
  rows: readonly { kind: string; p50_ms: number; p99_ms: number; max_ms: number; bytes: number }[],
): string {
  const lines = rows.map(
    ({ kind, p50_ms, p99_ms, max_ms, bytes }) =>
      `| ${kind.padEnd(40)} | ${String(p50_ms).padStart(7)} | ${String(p99_ms).padStart(7)} | ${String(max_ms).padStart(7)} | ${String(bytes).padStart(7)} |`,
  );
  return [`| ${"kind".padEnd(40)} |  p50 ms |  p99 ms |  max ms |   bytes |`, ...lines, ""].join("\n");
}

if (flags.role === "fill") await fillDatabase(flags.folder);
else if (flags.role === "serve") await runService(flags.folder);
else await runBenchmark();
