/** What a venue's side of a replay provides: responses, frames, and what the adapter is asked to read. */
import { readFileSync } from "node:fs";
import { type JsonObject, objectOf } from "./json.ts";
import type { Recording } from "./recording.ts";

export interface VenueRequest {
  /** The venue's host, as in the configuration ("rest", "gamma"). */
  readonly service: string;
  /** Path without the venue's base path. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Response to a path that the venue does not have. The run fails. */
export const UNKNOWN_PATH = Symbol("unknown path");
/** Response 404. */
export const NOT_FOUND = undefined;

export interface Frame {
  /** Text of a WebSocket, or `[event, payload]` of Socket.IO. */
  readonly message: string | readonly [event: string, payload: unknown];
  /** Time at which it is sent, Unix milliseconds. */
  readonly at: number;
}

export interface HistoryRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly intervalMs: number;
}

/** One reading of a recording. */
export interface Replay {
  readonly reply: (request: VenueRequest) => unknown;
  /** Ids of the markets to read. */
  readonly ids: readonly string[];
  /** Reads a book after each step. */
  readonly books?: readonly { readonly id: string; readonly serve?: () => void }[];
  readonly ranges?: ReadonlyMap<string, HistoryRange>;
  readonly hasTrades?: boolean;
  readonly frames?: readonly Frame[];
  /** Returns the server's replies to a text of the adapter. */
  readonly answer?: (text: string) => readonly unknown[];
  /** Closes the markets before they are read again after the last frame. */
  readonly closeMarkets?: () => void;
}

/** @param payloads recordings of the venue; related rows (events, series, tokens, resolutions) are found in any of them */
export type CreateReplays = (recording: Recording, payloads: readonly unknown[]) => Replay[];

/** Range of times that contains all points. */
export function rangeOf(times: readonly number[], intervalMs: number, isAligned = false): HistoryRange {
  const known = times.filter(Number.isFinite);
  const [first, last] = [Math.min(...known), Math.max(...known)];
  if (!isAligned) return { fromMs: first - intervalMs, toMs: last + 1, intervalMs };
  const fromMs = (Math.floor(first / intervalMs) - 1) * intervalMs;
  return { fromMs, toMs: (Math.ceil(last / intervalMs) + 1) * intervalMs, intervalMs };
}

const YEAR_MS = 365 * 86_400_000;

/** Times of a market that is open at the capture. */
export function openTimes(now: number) {
  return { openAt: new Date(now - YEAR_MS).toISOString(), closeAt: new Date(now + YEAR_MS).toISOString() };
}

/**
 * Reads a fixture of an adapter's tests. Books, trades, histories and frames do not describe their market, so a fixture
 * with the recorded ids is served, because the adapter must know a market before it reads its data.
 */
export function readFixture(path: string): JsonObject {
  return objectOf(JSON.parse(readFileSync(new URL(`../../src/venues/${path}.json`, import.meta.url), "utf8")));
}
