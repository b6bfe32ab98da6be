/** Reads `index.json` and the recordings that it names. */
import { readFile } from "node:fs/promises";
import { isAbsolute, join, normalize } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { type Endpoint, KNOWN_VENUES, parseEndpoint } from "./endpoint.ts";
import { isObject, type JsonObject, textOf } from "./json.ts";

const unzip = promisify(gunzip);
/** Maximum decompressed size of a recording. */
const RECORDING_BYTES_MAX = 512 * 1024 * 1024;

export interface Recording {
  readonly file: string;
  readonly venue: string;
  readonly endpoint: Endpoint;
  /** Unix milliseconds. The adapters' clock stands at this time. */
  readonly capturedAt: number;
  readonly payload: unknown;
}

/** A recording that cannot be read, and why. */
export interface UnreadableRecording {
  readonly file: string;
  readonly problem: string;
}

/** @throws Error if the folder has no usable index */
export async function readIndex(folder: string): Promise<readonly unknown[]> {
  const path = join(folder, "index.json");
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    throw new Error(`${path} cannot be read: name a folder with recordings and their index.json`, { cause });
  }
  const parsed = parseJson(text);
  const entries = [parsed, ...(isObject(parsed) ? [parsed.recordings, parsed.files] : [])].find(Array.isArray);
  if (entries === undefined) throw new Error(`${path} is not a JSON list of recordings`);
  return entries;
}

export async function readRecording(folder: string, entry: unknown): Promise<Recording | UnreadableRecording> {
  const row: JsonObject = isObject(entry) ? entry : {};
  const file = textOf(row.file);
  if (file === null) return { file: "(no file)", problem: "the index entry names no file" };
  const refuse = (problem: string): UnreadableRecording => ({ file, problem });
  const venue = textOf(row.venue)?.toLowerCase() ?? "";
  if (!KNOWN_VENUES.includes(venue)) return refuse(`unknown venue "${venue}" (known: ${KNOWN_VENUES.join(", ")})`);
  const channel = textOf(row.channel) ?? textOf(row.endpoint);
  if (channel === null) return refuse("the index entry names neither an endpoint nor a channel");
  const endpoint = parseEndpoint(venue, channel);
  if (endpoint === null) return refuse(`not readable: no adapter reads the endpoint "${channel}"`);
  const capturedAt = Date.parse(textOf(row.captured_at) ?? textOf(row.captured) ?? "");
  if (Number.isNaN(capturedAt)) return refuse("the index entry has no capture time (captured_at)");
  if (isAbsolute(file) || normalize(file).startsWith("..")) return refuse("the file is outside the folder");
  try {
    const bytes = await readFile(join(folder, file));
    const isZipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const text = (isZipped ? await unzip(bytes, { maxOutputLength: RECORDING_BYTES_MAX }) : bytes).toString("utf8");
    const payload = parseJson(text) ?? parseJsonLines(text);
    return payload === undefined ? refuse("the file is not JSON") : { file, venue, endpoint, capturedAt, payload };
  } catch (error) {
    return refuse(`the file cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses one JSON value per line. */
function parseJsonLines(text: string): unknown[] | undefined {
  const values = text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map(parseJson);
  return values.length === 0 || values.includes(undefined) ? undefined : values;
}
