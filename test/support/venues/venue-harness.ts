import { existsSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
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
/** The time at which the simulated world is stopped. */
export const NOW = GENESIS + 6 * 3_600_000;
/** Rate limits and retries of adapters pass this much faster than the wall clock. */
const HURRY = 500;
const TURNS_MAX = 100_000;
const EXCHANGES_DIR = new URL("../../../sandbox/protocol/", import.meta.url);
const ADAPTERS_DIR = new URL("../../../src/venues/", import.meta.url);

/** Whether both the adapter and the sandbox exchange of a venue exist. */
export function hasVenue(name: VenueName): boolean {
  return (
    existsSync(new URL(`${name}/index.ts`, EXCHANGES_DIR)) && existsSync(new URL(`${name}/index.ts`, ADAPTERS_DIR))
  );
}

/**
 * A clock whose wall time stands still at `now`, so that prices do not change during a test. Waits are real but shorter,
 * because HTTP runs over loopback.
 */
export function fastClock(now: number): Clock {
  return {
    now: () => now,
    monotonic: () => systemClock.monotonic() * HURRY,
    yieldToEventLoop: systemClock.yieldToEventLoop,
    setTimeout: (callback, delayMs) => systemClock.setTimeout(callback, delayMs / HURRY),
    sleep: (delayMs, signal) => systemClock.sleep(delayMs / HURRY, signal),
  };
}

export function harnessWorld(seed = 7, marketCount = 120): SimulatedWorld {
  return createWorld({ seed, genesis: GENESIS, speed: 1, marketCount });
}

/** One venue's sandbox exchange over a stopped world, its adapter, and hooks on the wire between them. */
export interface VenueHarness {
  readonly world: SimulatedWorld;
  /** Base URLs of the exchange's HTTP services, without a trailing slash. */
  readonly bases: readonly string[];
  /** All requests of the adapters, including those that were not sent. */
  readonly requests: OutgoingRequest[];
  readonly drops: Map<string, number>;
  /** Schema drift, as `object.field kind`. */
  readonly drift: Map<string, number>;
  /** Responds instead of the exchange; null forwards the request. */
  intercept: ((request: OutgoingRequest) => ScriptedResponse | null) | null;
  /** Changes the body of a 200 response. */
  rewrite: ((body: string) => string) | null;
  now(): number;
  /** A new adapter without state. */
  adapter(id?: string): VenueAdapter;
  /** Number of requests of an action. */
  count(action: () => Promise<unknown>): Promise<number>;
  /** Waits until the condition holds. */
  until(isTrue: () => boolean): Promise<void>;
  /** Event loop iterations within which any further request would be sent. */
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
  const wire = createUndiciHttp(clock);
  const create = await loadAdapter(name);

  const http: HttpOut = {
    async send(request) {
      bench.requests.push(request);
      const answer = bench.intercept?.(request) ?? null;
      if (answer === null) {
        const response = await wire.send(request);
        return response.status === 200 && bench.rewrite !== null
          ? { ...response, body: bench.rewrite(response.body) }
          : response;
      }
      if (answer.afterMs !== undefined) {
        await systemClock.sleep(answer.afterMs, request.signal).catch((cause) => {
          throw new VenueError("network", "given up", { retryable: false, cause });
        });
      }
      const { status = 200, headers = {}, body = "" } = answer;
      return { status, headers, body, receivedAt: NOW };
    },
  };

  const bench: VenueHarness = {
    world,
    bases: services
      .filter(({ scheme }) => scheme === "http")
      .map((service) => (urls[service.name] ?? "").replace(/\/$/, "")),
    requests: [],
    drops: new Map(),
    drift: new Map(),
    intercept: null,
    rewrite: null,
    now,
    adapter: (id = name) =>
      create(
        {
          id,
          playMoney: name === "manifold",
          http,
          sockets: createWsSockets(clock),
          clock,
          random: systemRandom,
          log: quietLog,
          drift: (kind, field) => bench.drift.set(`${field} ${kind}`, (bench.drift.get(`${field} ${kind}`) ?? 0) + 1),
          drop: (reason, count = 1) => bench.drops.set(reason, (bench.drops.get(reason) ?? 0) + count),
        },
        urls,
      ),
    async count(action) {
      const before = bench.requests.length;
      await action();
      return bench.requests.length - before;
    },
    async until(isTrue) {
      for (let turn = 0; turn < TURNS_MAX && !isTrue(); turn++) await nextTurn();
      if (!isTrue()) throw new Error("the condition did not become true");
    },
    async pause() {
      for (let turn = 0; turn < 100; turn++) await nextTurn();
    },
    async close() {
      feed.close();
      await Promise.all([served.close(), wire.close()]);
    },
  };
  return bench;
}

async function loadExchange(name: VenueName): Promise<ExchangeFactory> {
  const module: Record<string, unknown> = await import(new URL(`${name}/index.ts`, EXCHANGES_DIR).href);
  return module[`${name}Exchange`] as ExchangeFactory;
}

type Create = (ports: VenuePorts, urls: Readonly<Record<string, string>>) => VenueAdapter;

/** Calls the adapter's factory. The URL of a service has the name of the service (`rest` is `restUrl`). */
async function loadAdapter(name: VenueName): Promise<Create> {
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
