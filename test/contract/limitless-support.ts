import { limitlessExchange, publishedBook } from "../../sandbox/protocol/limitless/index.ts";
import { serveExchanges } from "../../sandbox/serve.ts";
import { createWorld } from "../../sandbox/world/index.ts";
import type { BookState, Feed, FeedEvent, ListedMarket, SimulatedWorld } from "../../sandbox/world/types.ts";
import { createSocketIoClient } from "../../src/adapters/network/socket-io-client.ts";
import { createUndiciHttp } from "../../src/adapters/network/undici-http.ts";
import { createWsSockets } from "../../src/adapters/network/ws-socket.ts";
import { systemClock } from "../../src/adapters/system/system-clock.ts";
import { systemRandom } from "../../src/adapters/system/system-random.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { VenueAdapter } from "../../src/ports/venue.ts";
import { createLimitlessVenue } from "../../src/venues/limitless/index.ts";
import { quietLog } from "../support/quiet-log.ts";

export const GENESIS = Date.UTC(2026, 10, 21, 4);

/** A sandbox exchange with HTTP and WebSocket servers, whose time and events the test controls. */
export interface LimitlessSandbox {
  readonly world: SimulatedWorld;
  readonly restUrl: string;
  readonly wsUrl: string;
  /** Returns the book of a market that the sandbox publishes now. */
  publishedBook(market: ListedMarket): BookState;
  /** Sets the time of the sandbox, the adapter and the assertions. */
  setNow(at: number): void;
  now(): number;
  /** Sends an event to the stream subscribers. */
  publish(event: FeedEvent): void;
  close(): Promise<void>;
}

export async function startLimitlessSandbox(
  options: { now?: number; marketCount?: number; enforceLimits?: boolean } = {},
): Promise<LimitlessSandbox> {
  let currentTime = options.now ?? GENESIS + 3_600_000;
  const world = createWorld({ seed: 1, genesis: GENESIS, speed: 60, marketCount: options.marketCount ?? 400 });
  const listeners = new Set<(event: FeedEvent) => void>();
  const feed: Feed = {
    subscribe(_venue, listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => listeners.clear(),
  };
  const now = () => currentTime;
  const context = { world, feed, now, enforceLimits: options.enforceLimits ?? false };
  const served = await serveExchanges(limitlessExchange(context), { host: "127.0.0.1", firstPort: 0 });
  return {
    world,
    restUrl: served.urls.limitless?.rest ?? "",
    wsUrl: served.urls.limitless?.ws ?? "",
    publishedBook: (market) => publishedBook(context, market, now()),
    setNow(at) {
      currentTime = at;
    },
    now,
    publish(event) {
      for (const listener of listeners) listener(event);
    },
    close: () => served.close(),
  };
}

/** Creates a clock with the sandbox's time. Its waits end immediately, so that rate limits do not slow down tests. */
export function sandboxClock(sandbox: LimitlessSandbox): Clock {
  let sleptMs = 0;
  return {
    now: sandbox.now,
    monotonic: () => systemClock.monotonic() + sleptMs,
    yieldToEventLoop: systemClock.yieldToEventLoop,
    setTimeout: systemClock.setTimeout,
    async sleep(delayMs) {
      sleptMs += delayMs;
      // Pending responses arrive in the next iteration of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

/** Connects the production adapter over loopback and counts its drops. */
export function connectLimitless(sandbox: LimitlessSandbox): {
  venue: VenueAdapter;
  drops: Map<string, number>;
  close(): Promise<void>;
} {
  const clock = sandboxClock(sandbox);
  const http = createUndiciHttp(clock);
  const drops = new Map<string, number>();
  const venue = createLimitlessVenue({
    id: "limitless",
    playMoney: false,
    http,
    sockets: createWsSockets(clock),
    socketIo: createSocketIoClient(clock),
    clock,
    random: systemRandom,
    log: quietLog,
    drift: (kind, field) => drops.set(`${field} ${kind}`, 1),
    countDrop: (reason, count = 1) => drops.set(reason, (drops.get(reason) ?? 0) + count),
    restUrl: sandbox.restUrl,
    wsUrl: sandbox.wsUrl,
  });
  return { venue, drops, close: () => http.close() };
}

export function worldMarkets(sandbox: LimitlessSandbox): readonly ListedMarket[] {
  return sandbox.world.markets("limitless", sandbox.now());
}
