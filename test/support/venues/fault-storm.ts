import { generateKeyPairSync } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { RunningSandbox } from "../../../sandbox/main.ts";
import {
  everyMarket,
  type Reply,
  type ServiceProcess,
  startServiceProcess,
  temporaryFolder,
} from "../service-process.ts";
import { type FaultControl, faultControl } from "./fault-control.ts";
import { prepareStore } from "./lifted-limits.ts";
import { testSandbox, venueSettings } from "./sandbox.ts";

/** See truth.test.ts: a polled response gets the time at which its headers arrive; its book is at most this much older. */
const READ_TO_ARRIVAL_MS_MAX = 1_000;
const AHEAD_MS_MAX = 2_000;
const ANSWERS_OF_A_VENUE_IN_TROUBLE = [502, 503, 504];
const VIOLATIONS_KEPT_MAX = 50;
const PAGE_MARKETS = 100;
/** Pause between two requests of a client. The venues run in the same process and need time to respond. */
const ASK_EVERY_MS = 5;
const HEALTH_EVERY_LOOPS = 4;
const BACK_STEP_MS = 50;

// biome-ignore lint/suspicious/noExplicitAny: the test reads and checks untyped JSON
type Json = any;

/** The service in a child process, its venues in this process, and their fault switches. */
export interface FaultStorm extends FaultControl {
  readonly sandbox: RunningSandbox;
  readonly service: ServiceProcess;
  end(): Promise<void>;
}

/** Every switch with the same rate. */
export async function everySwitch(storm: Pick<FaultStorm, "sandbox">, rate: number): Promise<Record<string, number>> {
  const state: Json = await (await fetch(`${storm.sandbox.urls.control?.rest}/faults`)).json();
  return Object.fromEntries(Object.keys(state.switches).map((name) => [name, rate]));
}

/** Starts both, with a key for the venue whose stream requires one. */
export async function openFaultStorm(options: {
  readonly marketCount: number;
  readonly seed?: number;
}): Promise<FaultStorm> {
  const sandbox = await testSandbox({
    marketCount: options.marketCount,
    enforceLimits: true,
    ...(options.seed === undefined ? {} : { seed: options.seed }),
  });
  const folder = await temporaryFolder();
  const keyFile = join(folder.path, "key.pem");
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  await writeFile(keyFile, privateKey.export({ type: "pkcs8", format: "pem" }));
  const dataDir = join(folder.path, "data");
  // The test sends more requests than any customer.
  await prepareStore(dataDir);
  const service = await startServiceProcess({
    dataDir,
    env: {
      ...venueSettings(sandbox),
      PARALLAX_KALSHI_KEY_ID: "storm",
      PARALLAX_KALSHI_PRIVATE_KEY_FILE: keyFile,
      PARALLAX_LOG_LEVEL: "error",
    },
  });
  return {
    ...faultControl(sandbox),
    sandbox,
    service,
    async end() {
      await service.end();
      await sandbox.close();
      await folder.release();
    },
  };
}

/** Violations in a response: a 5xx status, a price outside (0, 1), a timestamp in the future. */
export function violationsOf(path: string, reply: Pick<Reply, "status" | "json">, now: number): string[] {
  if (reply.status !== 200)
    return ANSWERS_OF_A_VENUE_IN_TROUBLE.includes(reply.status) ? [] : [`${path} answered ${reply.status}`];
  const found: string[] = [];
  const visit = (value: Json): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (typeof value !== "object" || value === null) return;
    const { bid, ask, spread, updated_at: updatedAt } = value;
    for (const name of ["bid", "ask", "yes_price", "last_price", "top_yes_price"]) {
      const price = value[name];
      if (price !== undefined && price !== null && !(typeof price === "number" && price >= 0 && price <= 1))
        found.push(`${path}: ${name} is ${price}`);
    }
    if (typeof bid === "number" && typeof ask === "number" && bid > ask) found.push(`${path}: bid ${bid}, ask ${ask}`);
    if (typeof spread === "number" && !(spread >= 0)) found.push(`${path}: spread is ${spread}`);
    if (typeof updatedAt === "string" && !(Date.parse(updatedAt) <= now + AHEAD_MS_MAX))
      found.push(`${path}: updated_at is ${updatedAt}`);
    for (const field of Object.values(value)) visit(field);
  };
  visit(reply.json);
  return found;
}

export interface WatchReport {
  /** Number of responses by status. */
  readonly answers: Readonly<Record<number, number>>;
  readonly violations: readonly string[];
}

/** Requests lists, markets, history, events and health in a loop and checks every response. */
export function watchAnswers(service: ServiceProcess): { stop(): Promise<WatchReport> } {
  const answers: Record<number, number> = {};
  const violations: string[] = [];
  let isOver = false;
  const ask = async (path: string): Promise<Reply> => {
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    const reply = await service.get(path);
    answers[reply.status] = (answers[reply.status] ?? 0) + 1;
    const found = violationsOf(path, reply, Date.now());
    violations.push(...found.slice(0, VIOLATIONS_KEPT_MAX - violations.length));
    return reply;
  };
  const watch = async () => {
    let turn = 0;
    let loop = 0;
    while (!isOver) {
      const list = await ask(`/v1/markets?limit=${PAGE_MARKETS}&sort=${turn % 2 === 0 ? "liquidity" : "volume_24h"}`);
      // Without a key, an address may send 600 requests a minute.
      if (loop++ % HEALTH_EVERY_LOOPS === 0) await ask("/v1/health");
      const events = await ask("/v1/events?limit=50");
      const [event] = events.json ?? [];
      if (event !== undefined) await ask(`/v1/events/${encodeURIComponent(event.slug)}`);
      const markets: Json[] = list.status === 200 ? list.json : [];
      for (let count = 0; count < 10 && markets.length > 0 && !isOver; count++, turn++) {
        const { platform, market_id: id } = markets[turn % markets.length];
        await ask(`/v1/markets/${platform}/${encodeURIComponent(id)}`);
      }
    }
  };
  /** Separate from the other requests, because history that must be fetched from a venue takes seconds. */
  const watchHistory = async () => {
    for (let turn = 0; !isOver; turn++) {
      const list = await ask("/v1/markets?limit=50");
      const market = list.json?.[(turn * 7) % 50];
      if (market === undefined) continue;
      await ask(`/v1/markets/${market.platform}/${encodeURIComponent(market.market_id)}/history?period=48h`);
    }
  };
  const running = Promise.all([watch(), watchHistory()]);
  return {
    async stop() {
      isOver = true;
      await running;
      return { answers, violations };
    },
  };
}

/** Resident memory of a process in bytes. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) * 1024;
}

/**
 * Finds markets whose served quote equals neither the simulator's current quote nor its quote at the served `updated_at`, or
 * whose `updated_at` is before `since`.
 */
export async function findWrongMarkets(
  storm: FaultStorm,
  since: number,
): Promise<{
  readonly wrong: readonly string[];
  /** Number of compared markets, by venue. */
  readonly compared: ReadonlyMap<string, number>;
}> {
  const control = `${storm.sandbox.urls.control?.rest}/truth`;
  const markets = await everyMarket(storm.service);
  const currentTruths = new Map<string, Json>();
  for (const venue of new Set(markets.map(({ platform }) => platform))) {
    const { markets: current }: Json = await (await fetch(`${control}/${venue}`)).json();
    for (const truth of current) currentTruths.set(`${venue}/${truth.market_id}`, truth);
  }
  const isEqual = (market: Json, truth: Json): boolean => {
    if (truth === undefined) return false;
    if (truth.lifecycle.phase !== "active") return market.bid === undefined && market.ask === undefined;
    return truth.book.bids[0]?.price === market.bid && truth.book.asks[0]?.price === market.ask;
  };
  const wasEqual = async (market: Json): Promise<boolean> => {
    const at = Date.parse(market.updated_at);
    for (let back = 0; at >= since && back <= READ_TO_ARRIVAL_MS_MAX; back += back === 0 ? 1 : BACK_STEP_MS) {
      const url = `${control}/${market.platform}?market_id=${encodeURIComponent(market.market_id)}`;
      const { markets: past }: Json = await (await fetch(`${url}&at=${Math.min(at, Date.now()) - back}`)).json();
      if (isEqual(market, past[0])) return true;
    }
    return false;
  };
  const wrong: string[] = [];
  for (const market of markets) {
    const { platform, market_id: id, bid, ask, updated_at: at } = market;
    if (isEqual(market, currentTruths.get(`${platform}/${id}`)) || (await wasEqual(market))) continue;
    wrong.push(`${platform}/${id} bid ${bid} ask ${ask} at ${at}, ${Date.parse(at) < since ? "not updated" : "wrong"}`);
  }
  const compared = new Map<string, number>();
  for (const { platform } of markets) compared.set(platform, (compared.get(platform) ?? 0) + 1);
  return { wrong, compared };
}
