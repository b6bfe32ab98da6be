import { existsSync } from "node:fs";
import { setImmediate as nextIteration } from "node:timers/promises";
import type { ExchangeFactory } from "../../../sandbox/protocol/exchange.ts";
import { serveExchanges } from "../../../sandbox/serve.ts";
import { createFeed, createWorld } from "../../../sandbox/world/index.ts";
import type { SimulatedWorld } from "../../../sandbox/world/types.ts";
import { createUndiciHttp } from "../../../src/adapters/network/undici-http.ts";
import { createWsSockets } from "../../../src/adapters/network/ws-socket.ts";
import { systemClock } from "../../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../../src/adapters/system/system-random.ts";
import { VenueError } from "../../../src/domain/errors.ts";
import type { Clock } from "../../../src/ports/clock.ts";
import type { HttpOut, OutgoingRequest } from "../../../src/ports/http-out.ts";
import type { VenueAdapter } from "../../../src/ports/venue.ts";
import type { VenuePorts } from "../../../src/venues/shared/venue-ports.ts";
import { quietLog } from "../quiet-log.ts";
import type { ScriptedResponse } from "./scripted-http.ts";

export type VenueName = "kalshi" | "polymarket" | "limitless" | "manifold";
export const VENUE_NAMES: readonly VenueName[] = ["kalshi", "polymarket", "limitless", "manifold"];

export const GENESIS = Date.UTC(2026, 10, 20);
/** Time of the simulated world; it does not advance. */
export const NOW = GENESIS + 6 * 3_600_000;
/** Waits of adapters (rate limits, retries) are divided by this factor. */
const TIME_FACTOR = 500;
const ITERATIONS_MAX = 100_000;
const EXCHANGES_DIR = new URL("../../../sandbox/protocol/", import.meta.url);
const ADAPTERS_DIR = new URL("../../../src/venues/", import.meta.url);

/** Returns whether both the adapter and the sandbox exchange of a venue exist. */
export function hasVenue(name: VenueName): boolean {
  return (
    existsSync(new URL(`${name}/index.ts`, EXCHANGES_DIR)) && existsSync(new URL(`${name}/index.ts`, ADAPTERS_DIR))
  );
}

/**
 * Creates a clock whose wall time is always `now`, so that prices are constant during a test. Waits use the real clock,
 * divided by `TIME_FACTOR`, because HTTP runs over loopback.
 */
export function fastClock(now: number): Clock {
  return {
    now: () => now,
    monotonic: () => systemClock.monotonic() * TIME_FACTOR,
    yieldToEventLoop: systemClock.yieldToEventLoop,
    setTimeout: (callback, delayMs) => systemClock.setTimeout(callback, delayMs / TIME_FACTOR),
    sleep: (delayMs, signal) => systemClock.sleep(delayMs / TIME_FACTOR, signal),
  };
}

export function harnessWorld(seed = 7, marketCount = 120): SimulatedWorld {
  return createWorld({ seed, genesis: GENESIS, speed: 1, marketCount });
}

/** One venue's sandbox exchange at a constant time, its adapter, and hooks for the requests between them. */
export interface VenueHarness {
  readonly world: SimulatedWorld;
  /** Base URLs of the exchange's HTTP services, without a trailing slash. */
  readonly baseUrls: readonly string[];
  /** All requests of the adapters, including intercepted ones. */
  readonly requests: OutgoingRequest[];
  readonly drops: Map<string, number>;
  /** Counts of schema drift by `object.field kind`. */
  readonly drift: Map<string, number>;
  /** Responds in place of the exchange; if it returns null, the request is forwarded. */
  intercept: ((request: OutgoingRequest) => ScriptedResponse | null) | null;
  /** Changes the body of a 200 response. */
  rewrite: ((body: string) => string) | null;
  now(): number;
  /** Creates an adapter without state. */
  adapter(id?: string): VenueAdapter;
  /** Runs an action and returns the number of requests that it sent. */
  count(action: () => Promise<unknown>): Promise<number>;
  /** Waits until the condition holds. */
  until(condition: () => boolean): Promise<void>;
  /** Waits until pending requests have been sent. */
  pause(): Promise<void>;
  close(): Promise<void>;
}

/** @param world  replaces the default small world */
export async function openVenueHarness(name: VenueName, world: SimulatedWorld = harnessWorld()): Promise<VenueHarness> {
  const now = () => NOW;
  const feed = createFeed(world, { now, intervalMs: 50 });
  const exchange = await loadExchange(name);
  const services = exchange({ world, feed, now, enforceLimits: false });
  const served = await serveExchanges(services, { host: "127.0.0.1", firstPort: 0 });
  const urls = served.urls[name] ?? {};
  const clock = fastClock(NOW);
  const realHttp = createUndiciHttp(clock);
  const createAdapter = await loadAdapter(name);

  const http: HttpOut = {
    async send(request) {
      harness.requests.push(request);
      const scriptedResponse = harness.intercept?.(request) ?? null;
      if (scriptedResponse === null) {
        const response = await realHttp.send(request);
        return response.status === 200 && harness.rewrite !== null
          ? { ...response, body: harness.rewrite(response.body) }
          : response;
      }
      if (scriptedResponse.afterMs !== undefined) {
        await systemClock.sleep(scriptedResponse.afterMs, request.signal).catch((cause) => {
          throw new VenueError("network", "request aborted", { retryable: false, cause });
        });
      }
      const { status = 200, headers = {}, body = "" } = scriptedResponse;
      return { status, headers, body, receivedAt: NOW };
    },
  };

  const harness: VenueHarness = {
    world,
    baseUrls: services
      .filter((service) => service.name !== "ws")
      .map((service) => (urls[service.name] ?? "").replace(/\/$/, "")),
    requests: [],
    drops: new Map(),
    drift: new Map(),
    intercept: null,
    rewrite: null,
    now,
    adapter: (id = name) =>
      createAdapter(
        {
          id,
          playMoney: name === "manifold",
          http,
          sockets: createWsSockets(clock),
          clock,
          random: systemRandom,
          log: quietLog,
          drift: (kind, field) =>
            harness.drift.set(`${field} ${kind}`, (harness.drift.get(`${field} ${kind}`) ?? 0) + 1),
          countDrop: (reason, count = 1) => harness.drops.set(reason, (harness.drops.get(reason) ?? 0) + count),
        },
        urls,
      ),
    async count(action) {
      const requestsBefore = harness.requests.length;
      await action();
      return harness.requests.length - requestsBefore;
    },
    async until(condition) {
      for (let index = 0; index < ITERATIONS_MAX && !condition(); index++) await nextIteration();
      if (!condition()) throw new Error("timed out waiting for the condition");
    },
    async pause() {
      for (let index = 0; index < 100; index++) await nextIteration();
    },
    async close() {
      feed.close();
      await Promise.all([served.close(), realHttp.close()]);
    },
  };
  return harness;
}

async function loadExchange(name: VenueName): Promise<ExchangeFactory> {
  const module: Record<string, unknown> = await import(new URL(`${name}/index.ts`, EXCHANGES_DIR).href);
  return module[`${name}Exchange`] as ExchangeFactory;
}

type AdapterFactory = (ports: VenuePorts, urls: Readonly<Record<string, string>>) => VenueAdapter;

/** Loads an adapter's factory. The URL of a service is the option with its name (`restUrl` for `rest`). */
async function loadAdapter(name: VenueName): Promise<AdapterFactory> {
  const module: Record<string, unknown> = await import(new URL(`${name}/index.ts`, ADAPTERS_DIR).href);
  const create = module[`create${name.charAt(0).toUpperCase()}${name.slice(1)}Venue`] as (
    options: object,
  ) => VenueAdapter;
  const socketIo = { connect: () => ({ emit() {}, close() {} }) };
  return (ports, urls) =>
    create({
      ...ports,
      socketIo,
      ...Object.fromEntries(Object.entries(urls).map(([service, url]) => [`${service}Url`, url])),
    });
}
