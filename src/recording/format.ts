/**
 * The lines of a recording (docs/recording.md): a header, followed by one fact per line. Field names are in snake_case,
 * and null fields are omitted. Recordings are untrusted files, so every line is validated.
 */
import type { Activity, EventListing, MarketListing, Quote } from "../domain/market.ts";
import type { OrderBook } from "../domain/order-book.ts";
import type { Trade } from "../domain/trade.ts";
import { AT_MAX, AT_MIN, HeaderLine, headerValidator } from "./line-schemas.ts";

const RECORDING_FORMAT = HeaderLine.properties.format.const;
const RECORDING_VERSION = 1;
export const LINE_CHARS_MAX = 4_000_000;

/** First line of a recording. */
export interface RecordingHeader {
  /** Unix milliseconds. No fact is older. */
  readonly startedAt: number;
  /** Origin of the facts as display text, for example "live venues". */
  readonly source: string;
}

/** Data that a venue adapter delivered at time `at` (Unix milliseconds). `venue` is the adapter's name. */
export type Fact = { readonly at: number; readonly venue: string } & (
  | { readonly kind: "event"; readonly event: Omit<EventListing, "venue"> }
  | { readonly kind: "market"; readonly market: Omit<MarketListing, "venue"> }
  | { readonly kind: "quote"; readonly marketId: string; readonly quote: Omit<Quote, "receivedAt"> }
  | { readonly kind: "activity"; readonly marketId: string; readonly activity: Activity }
  | { readonly kind: "book"; readonly marketId: string; readonly book: Omit<OrderBook, "receivedAt"> }
  | { readonly kind: "trade"; readonly marketId: string; readonly trade: Trade }
);

/** Thrown for an invalid line. The message is a sentence fragment; the caller adds the file and the line number. */
export class LineError extends Error {
  override readonly name = "LineError";
}

/** Serialises the header as one line without a line break. */
export function writeHeader({ startedAt, source }: RecordingHeader): string {
  return JSON.stringify({
    format: RECORDING_FORMAT,
    version: RECORDING_VERSION,
    started_at: new Date(startedAt).toISOString(),
    source,
  });
}

/** @throws LineError if the line is not a header of this format and version */
export function parseHeader(line: string): RecordingHeader {
  const value = parseJson(line);
  if (!headerValidator.Check(value)) {
    throw new LineError(`not the header of a recording (format "${RECORDING_FORMAT}")`);
  }
  if (value.version !== RECORDING_VERSION) {
    throw new LineError(
      `format version ${value.version} is not supported; this program reads version ${RECORDING_VERSION}`,
    );
  }
  const startedAt = Date.parse(value.started_at);
  if (!(startedAt >= AT_MIN && startedAt <= AT_MAX)) throw new LineError("started_at is not a valid time");
  return { startedAt, source: value.source };
}

/** @throws LineError if the line is not JSON */
export function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new LineError("not JSON");
  }
}
