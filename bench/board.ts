/**
 * The market board at full size: how long a start from the stored state takes, what it weighs, and how long lists,
 * searches and event lists take over HTTP while the ingest applies changes.
 *
 *   node bench/board.ts [--markets 300000] [--changes 2000] [--rounds 300] [--json file] [--keep folder]
 *
 * One process is the real service: embedded store, restore, HTTP with key checks, ingest and recorder. Its venues are
 * scripted: half of the changes are streamed quotes, half are pages of a sweep with new prices, volumes and liquidity.
 * This process asks one question after the other over one connection, every kind once a round, so that all kinds meet
 * the same noise; a time is from sending until the last byte.
 *
 * - `restore_s`: from the opened store to a board whose lists are ready. `ready_s`: from the start of the process, store
 *   and program included, until it listens. After a kill the store first replays its log, which counts here too.
 * - `rss_start_mb`, `rss_end_mb`: resident memory of the service at its start and after the questions.
 * - `cpu_share`: processor seconds of the service per second, all its threads.
 *
 * `--keep` names a folder whose store is made once and used again by later runs.
 */
import { type ChildProcess, fork } from "node:child_process";
import { access, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openEmbeddedDatabase } from "../src/adapters/database/embedded-database.ts";
import { migrateDatabase } from "../src/adapters/database/migrations.ts";
import { ensureStoreIdentity } from "../src/adapters/database/store-identity.ts";
import { createPinoLog } from "../src/adapters/system/pino-log.ts";
import { systemClock } from "../src/adapters/system/system-clock.ts";
import { systemRandom } from "../src/adapters/system/system-random.ts";
import { buildApp } from "../src/app.ts";
import { ensureDemoKeys } from "../src/capabilities/keys/index.ts";
import type { EventListing, MarketSnapshot } from "../src/domain/market.ts";
import { encodeCursor } from "../src/http/pagination.ts";
import type { ListingPage, StreamHandlers, VenueAdapter } from "../src/ports/venue.ts";
import { createMarketStore } from "../src/storage/index.ts";
import { plainAppPorts } from "../test/support/app-ports.ts";
import { liftLimits } from "../test/support/venues/lifted-limits.ts";
import { type Draw, drawFrom, SYNTHETIC_VENUES, syntheticEvents } from "./synthetic-markets.ts";

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
const [marketCount, changesPerSecond, rounds] = [flags.markets, flags.changes, flags.rounds].map(Number) as [
  number,
  number,
  number,
];
const DEEP_PAGES = 200;
const WARM_UP_ROUNDS = 30;
const CHANGE_EVERY_MS = 10;
const PAGE_ROWS = 100;
const log = createPinoLog("error");

/** What the service process tells of itself. */
interface ServiceReport {
  readonly url: string;
  readonly key: string;
  /** Milliseconds since the process began. */
  readonly readyMs: number;
  readonly restoreMs: number;
  readonly markets: number;
}

interface Weight {
  readonly rssMb: number;
  readonly heapMb: number;
  readonly cpuSeconds: number;
  readonly changes: number;
}

/** Fills a store with the synthetic rows, as the recorder would have. */
async function fill(folder: string): Promise<void> {
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

/** A venue that streams changes of price and lists changes of volume, half of the wanted rate each. */
function changingVenue(id: string, drawMarket: (draw: Draw) => MarketSnapshot, rate: number, count: () => void) {
  const draw = drawFrom(id.length);
  let sweeps = 0;
  const price = () => (1 + draw.whole(95)) / 100;
  const empty = (): ListingPage => ({ markets: [], events: [], totalRows: null, requestedAt: Date.now() });
  const adapter: VenueAdapter = {
    id,
    playMoney: false,
    profile: {
      sweepPauseMs: 100,
      activePollMs: null,
      streamMarketsMax: 500,
      staleAfterMs: 120_000,
      volumeFromTrades: false,
    },
    async *listOpenMarkets(signal) {
      // The first sweep ends at once, as one that was restored needs it; the second never ends.
      for (const pauseMs = (1_000 * PAGE_ROWS) / (rate / 2); sweeps++ > 0; ) {
        await systemClock.sleep(pauseMs, signal);
        const requestedAt = Date.now();
        const page = Array.from({ length: PAGE_ROWS }, () => {
          count();
          const { listing, quote, activity } = drawMarket(draw);
          const bid = price();
          return {
            listing,
            quote: { ...quote, bid, ask: bid + 0.01, receivedAt: requestedAt },
            activity: { ...activity, volume24hUsd: draw() * 1e5, liquidityUsd: draw() * 1e4 },
          };
        });
        yield { markets: page, events: [], totalRows: null, requestedAt };
      }
    },
    getMarkets: async () => empty(),
    findMarket: async () => null,
    getBook: async () => null,
    listTrades: async () => [],
    getHistory: async () => [],
    openStream(handlers: StreamHandlers) {
      let owed = 0;
      let last = performance.now();
      const timer = setInterval(() => {
        const now = performance.now();
        owed += ((now - last) / 1_000) * (rate / 2);
        last = now;
        for (; owed >= 1; owed--) {
          count();
          const { listing } = drawMarket(draw);
          const bid = price();
          const receivedAt = Date.now();
          const quote = { bid, ask: bid + 0.01, eventAt: receivedAt };
          handlers.onMessage({ kind: "quote", marketId: listing.marketId, quote, receivedAt });
        }
      }, CHANGE_EVERY_MS);
      handlers.onUp();
      return { follow() {}, close: () => clearInterval(timer) };
    },
  };
  return adapter;
}

/** The real service over the filled store, and venues that change. */
async function serve(folder: string): Promise<void> {
  const database = await openEmbeddedDatabase({ dataDir: folder, log });
  await migrateDatabase(database);
  const keys = await ensureDemoKeys(database, folder, { random: systemRandom, clock: systemClock });
  await liftLimits(database);
  let changes = 0;
  const idsOf = new Map<string, string[]>(SYNTHETIC_VENUES.map((id) => [id, []]));
  const drawMarket = (venue: string) => (draw: Draw) => {
    const market = app.board.find(venue, draw.of(idsOf.get(venue) ?? []));
    if (market === null) throw new Error("a synthetic market left the board");
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
        create: () => {
          const rate = changesPerSecond / SYNTHETIC_VENUES.length;
          return changingVenue(id, drawMarket(id), rate, () => changes++);
        },
      })),
    }),
  );
  await app.metering.start();
  const begunAt = performance.now();
  const markets = await app.ingest.restore();
  const restoreMs = performance.now() - begunAt;
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
    const weight: Weight = { rssMb: rss / 1e6, heapMb: heapUsed / 1e6, cpuSeconds: (user + system) / 1e6, changes };
    process.send?.(weight);
  });
}

function spawnRole(role: string, folder: string): ChildProcess {
  const args = ["--role", role, "--folder", folder, "--markets", flags.markets, "--changes", flags.changes];
  return fork(new URL(import.meta.url).pathname, args);
}

const messageOf = <Message>(child: ChildProcess) =>
  new Promise<Message>((resolve, reject) => {
    child.once("message", (message) => resolve(message as Message));
    child.once("exit", (code) => reject(new Error(`the process ended with exit code ${code}`)));
  });

interface Answer {
  readonly ms: number;
  readonly bytes: number;
  readonly link: string | null;
  /** Not a 200: its time counts, and so does its number. */
  readonly isRefused: boolean;
}

function client(url: string, key: string): (path: string) => Promise<Answer> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return (path) =>
    new Promise((resolve, reject) => {
      const begunAt = performance.now();
      const sent = request(`${url}${path}`, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
        let bytes = 0;
        let text = "";
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (response.statusCode !== 200) text += chunk.toString();
        });
        response.on("end", () => {
          if (response.statusCode !== 200) process.stderr.write(`${path} answered ${response.statusCode}: ${text}\n`);
          const isRefused = response.statusCode !== 200;
          const link = /<([^>]+)>/.exec(String(response.headers.link ?? ""))?.[1] ?? null;
          resolve({ ms: performance.now() - begunAt, bytes, link, isRefused });
        });
      });
      sent.on("error", reject);
      sent.end();
    });
}

const SORTS = ["volume_24h", "liquidity", "open_interest", "updated_at", "resolution_date", "price_change_24h"];

/** Each kind of question, as a function that gives the next path to ask; told what the last answer linked to. */
function questions(): Map<string, (link: string | null) => string> {
  const draw = drawFrom(7);
  const always = (path: string) => () => path;
  const kinds = new Map<string, (link: string | null) => string>();
  kinds.set("one market's neighbour: list, limit 1", always("/v1/markets?limit=1"));
  for (const sort of SORTS) kinds.set(`list by ${sort}`, always(`/v1/markets?sort=${sort}`));
  kinds.set("list of 100", always("/v1/markets?limit=100"));
  for (const sort of ["volume_24h", "updated_at", "resolution_date"]) {
    let page = 0;
    const first = `/v1/markets?limit=100&sort=${sort}`;
    kinds.set(`page after page by ${sort}`, (link) => (link === null || page++ % DEEP_PAGES === 0 ? first : link));
  }
  for (const [sort, value] of [
    ["volume_24h", 1],
    ["liquidity", null],
    ["resolution_date", -Date.UTC(2027, 9, 1)],
    ["price_change_24h", null],
  ] as const) {
    const cursor = encodeCursor({ value, id: "south" }, { sort, status: "active" });
    kinds.set(`far down by ${sort}`, always(`/v1/markets?sort=${sort}&status=active&cursor=${cursor}`));
  }
  kinds.set("list of one venue", always("/v1/markets?source=eastmarket"));
  kinds.set("list of finalized", always("/v1/markets?status=finalized&sort=updated_at"));
  kinds.set("list of one category", always("/v1/markets?category=culture&source=southmarket"));
  kinds.set("list of a category nobody has", always("/v1/markets?category=nothing"));
  for (const sort of SORTS) kinds.set(`search will, by ${sort}`, always(`/v1/markets?query=will&sort=${sort}`));
  kinds.set("search three common words", always("/v1/markets?query=will%20the%20on"));
  kinds.set("search three words of one office", always("/v1/markets?query=governor%20race%20win"));
  kinds.set("search a beginning", always("/v1/markets?query=bitcoin%20abo"));
  kinds.set(
    "search many common words",
    always("/v1/markets?query=will%20the%20highest%20temperature%20in%20be%20between%20on%202027"),
  );
  kinds.set("search common words that never meet", always("/v1/markets?query=temperature%20bitcoin"));
  kinds.set(
    "search a common and a rare word",
    () => `/v1/markets?query=will%20the%20${draw.of(["kel", "hol", "gre"])}chaford`,
  );
  kinds.set("search three letters", () => `/v1/markets?query=${draw.of(["bab", "con", "202", "pri", "mor", "100"])}`);
  kinds.set("search a number", () => `/v1/markets?query=above%20${draw.whole(100_000)}`);
  kinds.set("search a name", () => `/v1/markets?query=${draw.of(["Bachewood", "morillski", "Hafezini", "kelmaos"])}`);
  kinds.set("search what nobody has", always("/v1/markets?query=zzyzx"));
  kinds.set("search will in finalized", always("/v1/markets?query=will&status=finalized&sort=price_change_24h"));
  kinds.set("search page after page", (link) => link ?? "/v1/markets?query=will&limit=100");
  kinds.set("events", always("/v1/events?limit=20"));
  kinds.set("events of a category", always("/v1/events?category=Economics"));
  kinds.set("events featured", always("/v1/events?featured=true"));
  kinds.set("events trending", always("/v1/events/trending"));
  kinds.set("events search common", always("/v1/events/search?q=will%20the"));
  kinds.set(
    "events search many common",
    always("/v1/events/search?q=will%20the%20highest%20temperature%20in%20be%20between%20on%202027"),
  );
  kinds.set("events search several", always("/v1/events/search?q=senate%20seat%20win"));
  kinds.set("events search a name", () => `/v1/events/search?q=${draw.of(["Bachewood", "morillski", "Hafezini"])}`);
  kinds.set("events search nothing", always("/v1/events/search?q=zzyzx"));
  return kinds;
}

const quantile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
const round = (value: number, digits = 1) => Number(value.toFixed(digits));

async function bench(): Promise<void> {
  const folder = flags.keep ?? (await mkdtemp(join(tmpdir(), "parallax-board-")));
  await mkdir(folder, { recursive: true });
  try {
    const isFilled = await access(join(folder, "filled")).then(
      () => true,
      () => false,
    );
    if (!isFilled) {
      const begunAt = performance.now();
      const child = spawnRole("fill", folder);
      const code = await new Promise((resolve) => child.once("exit", resolve));
      if (code !== 0) throw new Error("the store could not be filled");
      await writeFile(join(folder, "filled"), "");
      process.stderr.write(`store filled in ${round((performance.now() - begunAt) / 1_000)} s\n`);
    }
    const service = spawnRole("serve", folder);
    const report = await messageOf<ServiceReport>(service);
    const weigh = () => {
      const told = messageOf<Weight>(service);
      service.send("weigh");
      return told;
    };
    const atStart = await weigh();
    // A service that this process leaves behind would hold the store's lock.
    process.once("exit", () => service.kill());
    process.stderr.write(
      `${report.markets} markets: restored in ${round(report.restoreMs / 1_000)} s, process ready after ` +
        `${round(report.readyMs / 1_000)} s, RSS ${round(atStart.rssMb, 0)} MB\n`,
    );
    const ask = client(report.url, report.key);
    const kinds = questions();
    const times = new Map([...kinds.keys()].map((kind) => [kind, [] as number[]]));
    const links = new Map<string, string | null>();
    const bytes = new Map<string, number>();
    let refused = 0;
    let measuredFrom = await weigh();
    let begunAt = performance.now();
    for (let index = -WARM_UP_ROUNDS; index < rounds; index++) {
      if (index === 0) {
        measuredFrom = await weigh();
        begunAt = performance.now();
      }
      for (const [kind, next] of kinds) {
        const answer = await ask(next(links.get(kind) ?? null));
        links.set(kind, answer.link);
        bytes.set(kind, answer.bytes);
        if (index < 0) continue;
        times.get(kind)?.push(answer.ms);
        if (answer.isRefused) refused += 1;
      }
    }
    const seconds = (performance.now() - begunAt) / 1_000;
    const atEnd = await weigh();
    service.send("end");
    await new Promise((resolve) => service.once("exit", resolve));

    const rows = [...times].map(([kind, all]) => {
      const sorted = all.sort((a, b) => a - b);
      const [p50, p99, max] = [quantile(sorted, 0.5), quantile(sorted, 0.99), sorted.at(-1) ?? Number.NaN];
      return { kind, p50_ms: round(p50, 2), p99_ms: round(p99, 2), max_ms: round(max, 2), bytes: bytes.get(kind) ?? 0 };
    });
    const whole = [...times.values()].flat().sort((a, b) => a - b);
    const result = {
      node: process.version,
      cpus: cpus().length,
      markets: report.markets,
      restore_s: round(report.restoreMs / 1_000, 2),
      ready_s: round(report.readyMs / 1_000, 2),
      rss_start_mb: round(atStart.rssMb, 0),
      rss_end_mb: round(atEnd.rssMb, 0),
      heap_end_mb: round(atEnd.heapMb, 0),
      changes_per_second: round((atEnd.changes - measuredFrom.changes) / seconds, 0),
      cpu_share: round((atEnd.cpuSeconds - measuredFrom.cpuSeconds) / seconds, 2),
      requests: whole.length,
      refused,
      requests_per_second: round(whole.length / seconds, 0),
      p50_ms: round(quantile(whole, 0.5), 2),
      p99_ms: round(quantile(whole, 0.99), 2),
      max_ms: round(whole.at(-1) ?? Number.NaN, 2),
      kinds: rows,
    };
    if (flags.json !== undefined) await writeFile(flags.json, `${JSON.stringify(result, null, 2)}\n`);
    const { kinds: _, ...totals } = result;
    process.stdout.write(`${JSON.stringify(totals)}\n\n${table(rows)}`);
  } finally {
    if (flags.keep === undefined) await rm(folder, { recursive: true, force: true });
  }
}

function table(
  rows: readonly { kind: string; p50_ms: number; p99_ms: number; max_ms: number; bytes: number }[],
): string {
  const lines = rows.map(
    ({ kind, p50_ms, p99_ms, max_ms, bytes }) =>
      `| ${kind.padEnd(40)} | ${String(p50_ms).padStart(7)} | ${String(p99_ms).padStart(7)} | ${String(max_ms).padStart(7)} | ${String(bytes).padStart(7)} |`,
  );
  return [`| ${"kind".padEnd(40)} |  p50 ms |  p99 ms |  max ms |   bytes |`, ...lines, ""].join("\n");
}

if (flags.role === "fill") await fill(flags.folder);
else if (flags.role === "serve") await serve(flags.folder);
else await bench();
