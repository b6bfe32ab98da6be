import { generateKeyPairSync } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunningSandbox } from "../../../sandbox/main.ts";
import {
  everyMarket,
  type ServiceProcess,
  type ServiceResponse,
  startServiceProcess,
  temporaryFolder,
} from "../service-process.ts";
import { type FaultControl, faultControl } from "./fault-control.ts";
import { prepareStore } from "./lifted-limits.ts";
import { testSandbox, venueSettings } from "./sandbox.ts";

/** Maximum time from the venue reading a book to the arrival of the response headers, which sets `updated_at`. */
const BOOK_AGE_MS_MAX = 1_000;
/** Maximum time by which `updated_at` may be in the future. */
const AHEAD_MS_MAX = 2_000;
const VENUE_FAILURE_STATUSES = [502, 503, 504];
const REPORTED_VIOLATIONS_MAX = 50;
const MARKETS_PER_PAGE = 100;
/** Pause between two requests of a client. The venues run in this process and need time to respond. */
const REQUEST_PAUSE_MS = 5;
const LOOPS_PER_HEALTH_REQUEST = 4;
const BACK_STEP_MS = 50;

// biome-ignore lint/suspicious/noExplicitAny: the test reads and checks untyped JSON
type Json = any;

/** The service in a child process, its venues in this process, and their fault switches. */
export interface FaultStorm extends FaultControl {
  readonly sandbox: RunningSandbox;
  readonly service: ServiceProcess;
  end(): Promise<void>;
}

/** Returns all fault switches of the sandbox, each with the same rate. */
export async function everySwitch(storm: Pick<FaultStorm, "sandbox">, rate: number): Promise<Record<string, number>> {
  const state: Json = await (await fetch(`${storm.sandbox.urls.control?.rest}/faults`)).json();
  return Object.fromEntries(Object.keys(state.switches).map((name) => [name, rate]));
}

/** Starts the sandbox and the service, with a key for Kalshi, whose stream requires one. */
export async function openFaultStorm(options: {
  readonly marketCount: number;
  readonly seed?: number;
}): Promise<FaultStorm> {
  const sandbox = await testSandbox({
    ...options,
    enforceLimits: true,
  });
  const folder = await temporaryFolder();
  const keyFile = join(folder.path, "key.pem");
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  await writeFile(keyFile, privateKey.export({ type: "pkcs8", format: "pem" }));
  const dataDir = join(folder.path, "data");
  // The test sends more requests than the limits of a customer allow.
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

/**
 * Returns the violations in a response: an unexpected status, a price outside [0, 1], a crossed quote, a timestamp in
 * the future.
 */
export function violationsOf(path: string, response: Pick<ServiceResponse, "status" | "json">, now: number): string[] {
  if (response.status !== 200)
    return VENUE_FAILURE_STATUSES.includes(response.status) ? [] : [`${path} returned ${response.status}`];
  const violations: string[] = [];
  const visit = (value: Json): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (typeof value !== "object" || value === null) return;
    const { bid, ask, spread, updated_at: updatedAt } = value;
    for (const name of ["bid", "ask", "yes_price", "last_price", "top_yes_price"]) {
      const price = value[name];
      if (price !== undefined && price !== null && !(typeof price === "number" && price >= 0 && price <= 1))
        violations.push(`${path}: ${name} is ${price}`);
    }
    if (typeof bid === "number" && typeof ask === "number" && bid > ask)
      violations.push(`${path}: bid ${bid}, ask ${ask}`);
    if (typeof spread === "number" && !(spread >= 0)) violations.push(`${path}: spread is ${spread}`);
    if (typeof updatedAt === "string" && !(Date.parse(updatedAt) <= now + AHEAD_MS_MAX))
      violations.push(`${path}: updated_at is ${updatedAt}`);
    for (const field of Object.values(value)) visit(field);
  };
  visit(response.json);
  return violations;
}

export interface WatchReport {
  /** Number of responses by status. */
  readonly responses: Readonly<Record<number, number>>;
  readonly violations: readonly string[];
}

/** Requests lists, markets, history, events and health in a loop and checks every response. */
export function watchResponses(service: ServiceProcess): {
  /** Number of responses with status 200 so far. */
  successCount(): number;
  stop(): Promise<WatchReport>;
} {
  const responses: Record<number, number> = {};
  const violations: string[] = [];
  let isStopped = false;
  const request = async (path: string): Promise<ServiceResponse> => {
    await sleep(REQUEST_PAUSE_MS);
    const response = await service.get(path);
    responses[response.status] = (responses[response.status] ?? 0) + 1;
    const found = violationsOf(path, response, Date.now());
    violations.push(...found.slice(0, REPORTED_VIOLATIONS_MAX - violations.length));
    return response;
  };
  const watch = async () => {
    let index = 0;
    let loop = 0;
    while (!isStopped) {
      const list = await request(
        `/v1/markets?limit=${MARKETS_PER_PAGE}&sort=${index % 2 === 0 ? "liquidity" : "volume_24h"}`,
      );
      // Without a key, an IP address may send 600 requests per minute.
      if (loop++ % LOOPS_PER_HEALTH_REQUEST === 0) await request("/v1/health");
      const events = await request("/v1/events?limit=50");
      const [event] = events.json ?? [];
      if (event !== undefined) await request(`/v1/events/${encodeURIComponent(event.slug)}`);
      const markets: Json[] = list.status === 200 ? list.json : [];
      for (let count = 0; count < 10 && markets.length > 0 && !isStopped; count++, index++) {
        const { platform, market_id: id } = markets[index % markets.length];
        await request(`/v1/markets/${platform}/${encodeURIComponent(id)}`);
      }
    }
  };
  /** Runs concurrently with the other requests, because fetching history from a venue takes seconds. */
  const watchHistory = async () => {
    for (let index = 0; !isStopped; index++) {
      const list = await request("/v1/markets?limit=50");
      const market = list.json?.[(index * 7) % 50];
      if (market === undefined) continue;
      await request(`/v1/markets/${market.platform}/${encodeURIComponent(market.market_id)}/history?period=48h`);
    }
  };
  const watchers = Promise.all([watch(), watchHistory()]);
  // `stop` throws the error. Until then it must not end the process.
  watchers.catch(() => {});
  return {
    successCount: () => responses[200] ?? 0,
    async stop() {
      isStopped = true;
      await watchers;
      return { responses, violations };
    },
  };
}

/** Reads the resident memory of a process in bytes. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) * 1024;
}

/**
 * Finds markets whose served quote equals neither the simulator's current quote nor its quote at the served
 * `updated_at`, or whose `updated_at` is before `since`.
 */
export async function findWrongMarkets(
  storm: FaultStorm,
  since: number,
): Promise<{
  readonly wrong: readonly string[];
  /** Number of compared markets, by venue. */
  readonly compared: ReadonlyMap<string, number>;
  /** Time at which the service had sent the quotes, Unix milliseconds. The comparison itself takes longer. */
  readonly readAt: number;
}> {
  const truthUrl = `${storm.sandbox.urls.control?.rest}/truth`;
  const markets = await everyMarket(storm.service);
  const readAt = Date.now();
  const currentStates = new Map<string, Json>();
  for (const venue of new Set(markets.map(({ platform }) => platform))) {
    const { markets: current }: Json = await (await fetch(`${truthUrl}/${venue}`)).json();
    for (const state of current) currentStates.set(`${venue}/${state.market_id}`, state);
  }
  const isEqual = (market: Json, state: Json): boolean => {
    if (state === undefined) return false;
    if (state.lifecycle.phase !== "active") return market.bid === undefined && market.ask === undefined;
    return state.book.bids[0]?.price === market.bid && state.book.asks[0]?.price === market.ask;
  };
  const wasEqualRecently = async (market: Json): Promise<boolean> => {
    const at = Date.parse(market.updated_at);
    for (let back = 0; at >= since && back <= BOOK_AGE_MS_MAX; back += back === 0 ? 1 : BACK_STEP_MS) {
      const url = `${truthUrl}/${market.platform}?market_id=${encodeURIComponent(market.market_id)}`;
      const { markets: states }: Json = await (await fetch(`${url}&at=${Math.min(at, Date.now()) - back}`)).json();
      if (isEqual(market, states[0])) return true;
    }
    return false;
  };
  const wrong: string[] = [];
  for (const market of markets) {
    const { platform, market_id: id, bid, ask, updated_at: at } = market;
    if (isEqual(market, currentStates.get(`${platform}/${id}`)) || (await wasEqualRecently(market))) continue;
    wrong.push(`${platform}/${id} bid ${bid} ask ${ask} at ${at}, ${Date.parse(at) < since ? "not updated" : "wrong"}`);
  }
  const compared = new Map<string, number>();
  for (const { platform } of markets) compared.set(platform, (compared.get(platform) ?? 0) + 1);
  return { wrong, compared, readAt };
}
