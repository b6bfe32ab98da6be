import { VenueError } from "../../domain/errors.ts";
import { limitsFor, type RequestLimits, VenueClient } from "../shared/venue-client.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import type { StreamSettlements } from "./stream-settlements.ts";
import type { PolymarketDriftDetectors } from "./wire.ts";

export interface PolymarketUrls {
  readonly gammaUrl: string;
  readonly clobUrl: string;
  readonly dataUrl: string;
  readonly wsUrl: string;
}

export interface PolymarketClients {
  readonly gamma: VenueClient;
  readonly clob: VenueClient;
  readonly data: VenueClient;
}

export type PolymarketPorts = VenuePorts & {
  readonly driftDetectors: PolymarketDriftDetectors;
  readonly settlements: StreamSettlements;
};

export interface PolymarketContext {
  readonly ports: PolymarketPorts;
  readonly urls: PolymarketUrls;
  readonly clients: PolymarketClients;
}

/** For pages of a few hundred events with their markets and rules. */
const GAMMA_BODY_BYTES_MAX = 16 * 1024 * 1024;

export const GAMMA_LIMITS: RequestLimits = { perSecond: 15, burst: 15, concurrency: 4 };

/**
 * One client per host, each limited to about half of the published rates: 30 `/markets` and 50 `/events` a second for
 * Gamma, 150 `/book` and 100 `/prices-history` for CLOB, 20 `/trades` for Data.
 */
export function createPolymarketClients(ports: VenuePorts): PolymarketClients {
  const shared = { http: ports.http, clock: ports.clock, random: ports.random, countDrop: ports.countDrop };
  return {
    gamma: new VenueClient({
      ...shared,
      limits: limitsFor(ports, GAMMA_LIMITS),
      maxBodyBytes: GAMMA_BODY_BYTES_MAX,
    }),
    clob: new VenueClient({ ...shared, limits: limitsFor(ports, { perSecond: 50, burst: 50, concurrency: 8 }) }),
    data: new VenueClient({ ...shared, limits: limitsFor(ports, { perSecond: 10, burst: 10, concurrency: 4 }) }),
  };
}

export type QueryValue = string | number | boolean | readonly string[] | null;

/**
 * Builds a URL; null values are omitted. Gamma reads lists as repeated parameters, the Data API as one parameter with
 * commas, which the caller joins.
 */
export function urlOf(base: string, path: string, query: Readonly<Record<string, QueryValue>> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const values = typeof value === "object" ? (value ?? []) : [value];
    for (const each of values) search.append(name, String(each));
  }
  const text = search.toString();
  return `${base.replace(/\/+$/, "")}${path}${text === "" ? "" : `?${text}`}`;
}

export function badBody(problem: string): VenueError {
  return new VenueError("bad_body", problem, { retryable: false });
}

/**
 * Returns a condition id in the only form that the Data API accepts: 32 bytes in lower-case hexadecimal. Markets of
 * protocol V2 have ids of 31 bytes, which are padded with a zero byte at the end. Returns null for other text: one such
 * id makes the venue refuse a whole batch.
 */
export function dataConditionId(conditionId: string): string | null {
  if (!/^0x(?:[0-9a-f]{62}|[0-9a-f]{64})$/i.test(conditionId)) return null;
  return conditionId.toLowerCase().padEnd(66, "0");
}
