/** Reads `index.json` and the recordings that it names. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { isObject, type JsonObject, objectOf, textOf } from "./json.ts";

const unzip = promisify(gunzip);

/** `markets` includes events with their markets and single markets. `unread`: no adapter requests the endpoint. */
export type RecordingKind = "markets" | "series" | "resolutions" | "book" | "history" | "trades" | "stream" | "unread";

export interface Recording {
  readonly file: string;
  readonly venue: string;
  readonly kind: RecordingKind;
  /** Path without host, version and query, for example "/markets/{}/orderbook"; empty for a stream. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Unix milliseconds. The adapters' clock stands at this time. */
  readonly capturedAt: number;
  readonly payload: unknown;
}

/** A recording that cannot be read, and why. */
export interface UnreadableRecording {
  readonly file: string;
  readonly problem: string;
}

/** `{}` stands for any segment. The first match counts. */
const PATTERNS: readonly (readonly [RegExp, RecordingKind])[] = [
  [/^\/(markets\/trades|v2\/trades|trades|bets|markets\/[^/]+\/events)$/, "trades"],
  [/\/candlesticks$|^\/prices-history$|^\/bet-points$|^\/markets\/[^/]+\/historical-price$/, "history"],
  [/^\/(books?|markets\/orderbooks|markets\/[^/]+\/orderbook)$/, "book"],
  [/^\/series(\/[^/]+)?$/, "series"],
  [/^\/v2\/resolutions$/, "resolutions"],
  [/^\/(multivariate_event_collections\/[^/]+|clob-markets\/[^/]+|v2\/prices-history)$/, "unread"],
  [/^\/(events|markets)(\/[^/]+|\/slug\/[^/]+|\/active\/{})?$/, "markets"],
  [/^\/(public-search|search-markets|market\/[^/]+|slug\/[^/]+)$/, "markets"],
];
const VENUES: readonly string[] = ["kalshi", "polymarket", "limitless", "manifold"];

const STREAM_PATTERN = /^(wss?\b|websocket\b|socket\.?io\b)/i;
/** Fields of a market that a venue's documentation lists. */
const FIELDS_PATTERN = /^the fields .+ of a market$/i;

/**
 * Reads text such as `GET /markets/{ticker}/orderbook`, `WS ticker` or `Socket.IO /markets`. Remarks and further
 * endpoints after the first are ignored. Returns null for an unknown endpoint.
 */
export function parseEndpoint(venue: string, channel: string): Pick<Recording, "kind" | "path" | "query"> | null {
  const text = channel
    .replaceAll("`", "")
    .trim()
    .replaceAll(/\{[^}]*\}/g, "{}");
  if (STREAM_PATTERN.test(text)) return { kind: "stream", path: "", query: new URLSearchParams() };
  if (FIELDS_PATTERN.test(text)) return { kind: "markets", path: "", query: new URLSearchParams() };
  const address = /(?:^|\s)(?:GET|POST)\s+(?:data-api\s+)?(\S+)/i.exec(text)?.[1] ?? "";
  const [location = "", search = ""] = address.replace(/[,;]$/, "").split("?");
  const path = location.replace(/^(https?:\/\/[^/]+)?(\/trade-api\/v2|\/v0)?/, "").replace(/\/+$/, "");
  const pattern = PATTERNS.find(([regExp]) => regExp.test(path));
  return pattern === undefined || !VENUES.includes(venue)
    ? null
    : { kind: pattern[1], path, query: new URLSearchParams(search) };
}

/** @throws Error if the folder has no usable index */
export async function readRecordings(folder: string): Promise<(Recording | UnreadableRecording)[]> {
  const path = join(folder, "index.json");
  let index: unknown;
  try {
    index = JSON.parse(await readFile(path, "utf8"));
  } catch (cause) {
    throw new Error(`${path} cannot be read: name a folder with recordings and their index.json`, { cause });
  }
  const entries = [index, objectOf(index).recordings, objectOf(index).files].find(Array.isArray);
  if (entries === undefined) throw new Error(`${path} is not a JSON list of recordings`);
  return Promise.all(entries.map((entry: unknown) => readRecording(folder, objectOf(entry))));
}

async function readRecording(folder: string, entry: JsonObject): Promise<Recording | UnreadableRecording> {
  const file = textOf(entry.file);
  if (file === null) return { file: "(no file)", problem: "the index entry names no file" };
  const venue = textOf(entry.venue)?.toLowerCase() ?? file.split("/")[0] ?? "";
  const channel = textOf(entry.channel) ?? textOf(entry.endpoint) ?? "";
  const endpoint = parseEndpoint(venue, channel);
  if (endpoint === null) return { file, problem: `no adapter of "${venue}" reads the endpoint "${channel}"` };
  // A star marks a time that the source does not state.
  const capturedAt = Date.parse((textOf(entry.captured_at) ?? textOf(entry.captured) ?? "").replace(/ \*$/, ""));
  if (Number.isNaN(capturedAt)) return { file, problem: "the index entry has no capture time (captured_at)" };
  try {
    const bytes = await readFile(join(folder, file));
    const isZipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const payload = parseJson((isZipped ? await unzip(bytes) : bytes).toString("utf8"));
    return { file, venue, ...endpoint, capturedAt, payload };
  } catch (error) {
    return { file, problem: `the file cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Parses JSON, or one JSON value per line. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    return lines.map((line): unknown => JSON.parse(line));
  }
}

export const isReadable = (recording: Recording | UnreadableRecording): recording is Recording =>
  isObject(recording) && !("problem" in recording);
