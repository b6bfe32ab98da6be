import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import type { EventListing, MarketListing } from "../../src/domain/market.ts";
import { type Fact, openRecordingWriter } from "../../src/recording/index.ts";
import { EMPTY_LISTING } from "../../test/support/markets/market-samples.ts";

const RECORDING_BYTES_MAX = 100_000_000_000;

/** Reads a JSON lines file and sorts the rows by time; the file is unsorted, because several programs wrote it concurrently. */
export async function readRecordingRows<Row extends { readonly ts: string }>(file: string): Promise<Row[]> {
  const bytes = await readFile(file);
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  const rows = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row);
  return rows.sort((a, b) => Date.parse(a.ts) - Date.parse(b.ts));
}

/** Event fields that the source data does not have. */
export const EMPTY_EVENT_FIELDS: Omit<EventListing, "venue" | "eventId" | "title"> = {
  description: null,
  category: null,
  url: null,
  mutuallyExclusive: false,
  exhaustive: false,
  children: null,
  featured: false,
  endAt: null,
};

/** Creates a listing with the known fields. Its status is `active`, because the source data contains quotes of it. */
export function createListing(
  known: Pick<MarketListing, "marketId" | "eventId" | "title" | "outcomeLabel" | "venueKeys">,
): Omit<MarketListing, "venue"> {
  return { ...EMPTY_LISTING, ...known, status: "active" };
}

/** Number of source rows and of recorded facts. */
export interface ConversionCounts {
  readonly rows: number;
  readonly facts: number;
}

/** Writes the facts of all rows, including a row that equals the previous row of its market. */
export async function writeSorted<Row extends { readonly ts: string }>(
  recording: string,
  rows: readonly Row[],
  options: {
    readonly source: string;
    readonly keyOf: (row: Row) => string;
    /** @param isFirst whether the row is the first one with its key */
    readonly detailsOf: (row: Row, isFirst: boolean) => readonly Fact[];
  },
): Promise<ConversionCounts> {
  const [first] = rows;
  if (first === undefined) throw new Error("the source file has no rows");
  const header = { startedAt: Date.parse(first.ts), source: options.source };
  const writer = await openRecordingWriter({ file: recording, header, bytesMax: RECORDING_BYTES_MAX });
  const keys = new Set<string>();
  for (const row of rows) {
    const key = options.keyOf(row);
    for (const fact of options.detailsOf(row, !keys.has(key))) writer.append(fact);
    keys.add(key);
    await writer.ready();
  }
  await writer.close();
  return { rows: rows.length, facts: writer.facts };
}

/** Runs a conversion if the module was started as a program: `node FILE [source] [recording]`. */
export async function runConverter(
  moduleUrl: string,
  convert: (source: string, recording: string) => Promise<ConversionCounts>,
  defaults: { readonly source: string; readonly recording: string },
): Promise<void> {
  if (process.argv[1] === undefined || new URL(moduleUrl).pathname !== process.argv[1]) return;
  const [source = defaults.source, recording = defaults.recording] = process.argv.slice(2);
  const { rows, facts } = await convert(source, recording);
  process.stdout.write(`converted ${rows} rows of ${source} to ${facts} facts in ${recording}\n`);
}
