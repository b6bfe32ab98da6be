import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import type { EventListing, MarketListing } from "../../src/domain/market.ts";
import type { Fact, openRecordingWriter } from "../../src/recording/index.ts";

const BYTES_MAX = 100_000_000_000;

/** The rows of a tape by time; tapes were written by several programs at once and are not in order. */
export async function readRecordingRows<Row extends { readonly ts: string }>(file: string): Promise<Row[]> {
  const bytes = await readFile(file);
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  const rows = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row);
  return rows.sort((a, b) => Date.parse(a.ts) - Date.parse(b.ts));
}

/** What a tape does not tell of an event. */
export const NO_EVENT: Omit<EventListing, "venue" | "eventId" | "title"> = {
  description: null,
  category: null,
  url: null,
  mutuallyExclusive: false,
  exhaustive: false,
  featured: false,
  endAt: null,
};

/** A market that was quoted, so orders were taken; a tape tells nothing else of its life. */
export function listingOf(known: {
  readonly marketId: string;
  readonly eventId: string;
  readonly title: string;
  readonly label: string;
  readonly venueKeys: Readonly<Record<string, string>>;
}): Omit<MarketListing, "venue"> {
  const { label, ...ids } = known;
  return {
    ...ids,
    outcomeLabel: label,
    url: null,
    category: null,
    status: "active",
    paused: false,
    outcome: null,
    rules: null,
    openAt: null,
    closeAt: null,
    expectedResolutionAt: null,
    resolvedAt: null,
    tickSize: null,
    takerFee: null,
  };
}

/** Writes the facts of all rows; a row that says the same as the one before of its market is still a fact. */
export async function writeSorted<Row extends { readonly ts: string }>(
  recording: string,
  rows: readonly Row[],
  options: {
    readonly source: string;
    readonly open: typeof openRecordingWriter;
    readonly factsOf: (row: Row) => readonly Fact[];
  },
): Promise<{ rows: number; facts: number }> {
  const [first] = rows;
  if (first === undefined) throw new Error("the tape is empty");
  const header = { startedAt: Date.parse(first.ts), source: options.source };
  const writer = await options.open({ file: recording, header, bytesMax: BYTES_MAX });
  for (const row of rows) {
    for (const fact of options.factsOf(row)) writer.append(fact);
    await writer.ready();
  }
  await writer.close();
  return { rows: rows.length, facts: writer.facts };
}

/** Whether a file was started as a program, not imported. */
export function isProgram(url: string): boolean {
  return process.argv[1] !== undefined && new URL(url).pathname === process.argv[1];
}
