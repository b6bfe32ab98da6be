/**
 * Converts recorded Kalshi order books to a recording that the sandbox can replay (docs/recording.md).
 *
 *   node bench/convert-kalshi-depth.ts [source] [recording]
 */
import { complement } from "../src/domain/price.ts";
import type { Fact } from "../src/recording/index.ts";
import {
  type ConversionCounts,
  createListing,
  EMPTY_EVENT_FIELDS,
  readRecordingRows,
  runConverter,
  writeSorted,
} from "./support/recording.ts";

export interface DepthRow {
  readonly ts: string;
  readonly ticker: string;
  /** Levels as [price, size]. Both sides are bids: a NO bid at price q is a YES ask at price 1 - q. */
  readonly yes_bids: readonly (readonly [number, number])[];
  readonly no_bids: readonly (readonly [number, number])[];
}

/**
 * Converts one row to facts. The source has no events: the ticker up to its last `-` is the event id, and the rest is
 * the outcome label.
 */
function convertDepthRow(row: DepthRow, isFirst: boolean): Fact[] {
  const at = Date.parse(row.ts);
  const venue = "kalshi";
  const { ticker: marketId } = row;
  const labelStart = marketId.lastIndexOf("-");
  const eventId = marketId.slice(0, labelStart);
  const outcomeLabel = marketId.slice(labelStart + 1);
  const book: Fact = {
    at,
    venue,
    kind: "book",
    marketId,
    book: {
      bids: row.yes_bids.map(([price, size]) => ({ price, size })).sort((a, b) => b.price - a.price),
      asks: row.no_bids.map(([price, size]) => ({ price: complement(price), size })).sort((a, b) => a.price - b.price),
      lastPrice: null,
      eventAt: at,
    },
  };
  if (!isFirst) return [book];
  const series = eventId.slice(0, eventId.indexOf("-"));
  const title = `${eventId} — ${outcomeLabel}`;
  return [
    { at, venue, kind: "event", event: { ...EMPTY_EVENT_FIELDS, eventId, title: eventId } },
    {
      at,
      venue,
      kind: "market",
      market: createListing({ marketId, eventId, title, outcomeLabel, venueKeys: { series } }),
    },
    book,
  ];
}

export async function convertKalshiDepth(source: string, recording: string): Promise<ConversionCounts> {
  return writeSorted(recording, await readRecordingRows<DepthRow>(source), {
    source: "recorded Kalshi order books",
    keyOf: (row) => row.ticker,
    detailsOf: convertDepthRow,
  });
}

await runConverter(import.meta.url, convertKalshiDepth, {
  source: "../shared/data/tape-kalshi-depth.jsonl.gz",
  recording: "kalshi-depth.jsonl.gz",
});
