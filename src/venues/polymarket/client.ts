import { limitsFor, VenueClient } from "../shared/venue-client.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";

export interface PolymarketUrls {
  readonly gammaUrl: string;
  readonly clobUrl: string;
  readonly dataUrl: string;
  readonly wsUrl: string;
}

/** The venue's public hosts. None of them needs a key for reading. */
export const POLYMARKET_LIVE_URLS: PolymarketUrls = {
  gammaUrl: "https://gamma-api.polymarket.com",
  clobUrl: "https://clob.polymarket.com",
  dataUrl: "https://data-api.polymarket.com",
  wsUrl: "wss://ws-subscriptions-clob.polymarket.com/ws/market",
};

export interface PolymarketClients {
  readonly gamma: VenueClient;
  readonly clob: VenueClient;
  readonly data: VenueClient;
}

/** A page of a few hundred events with their markets and rules is large. */
const GAMMA_BODY_BYTES_MAX = 64 * 1024 * 1024;

/**
 * One client per host, each at about half of what the venue publishes for the paths we use: Gamma 30 `/markets` and 50
 * `/events` a second, CLOB 150 `/book` and 100 `/prices-history`, Data 20 `/trades`.
 */
export function createPolymarketClients(ports: VenuePorts): PolymarketClients {
  const shared = { http: ports.http, clock: ports.clock, random: ports.random, drop: ports.drop };
  return {
    gamma: new VenueClient({
      ...shared,
      limits: limitsFor(ports, { perSecond: 15, burst: 15, concurrency: 4 }),
      deadlineMs: 30_000,
      maxBodyBytes: GAMMA_BODY_BYTES_MAX,
    }),
    clob: new VenueClient({ ...shared, limits: limitsFor(ports, { perSecond: 50, burst: 50, concurrency: 8 }) }),
    data: new VenueClient({ ...shared, limits: limitsFor(ports, { perSecond: 10, burst: 10, concurrency: 4 }) }),
  };
}

export type QueryValue = string | number | boolean | readonly string[];

/** Base URL, path and query; lists become repeated parameters. */
export function urlOf(base: string, path: string, query: Readonly<Record<string, QueryValue>> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (typeof value === "object") for (const each of value) search.append(name, each);
    else search.append(name, String(value));
  }
  const text = search.toString();
  return `${base.replace(/\/+$/, "")}${path}${text === "" ? "" : `?${text}`}`;
}
