/**
 * Converts recorded Kalshi order books to a recording that the sandbox can replay (docs/recording.md).
 *
 *   node bench/convert-kalshi-depth.ts [source] [recording]
 */
import { complement } from "../src/domain/price.ts";
import type { Fact } from "../src/recording/index.ts";
import {
  type ConversionCounts,
  listingOf,
  NO_EVENT,
  readRecordingRows,
  runConverter,
  writeSorted,
} from "./support/recording.ts";

export interface DepthRow {
  readonly ts: string;
  readonly ticker: string;
  /** Price and size. Both sides are bids: a NO bid at q is a YES ask at 1 - q. */
  readonly yes_bids: readonly (readonly [number, number])[];
  readonly no_bids: readonly (readonly [number, number])[];
}

/**
 * The facts of one row. The source has no events. The event id is the ticker without its last part; that part is the outcome
 * label.
 */
function factsOfDepth(row: DepthRow, isFirst: boolean): Fact[] {
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
    { at, venue, kind: "event", event: { ...NO_EVENT, eventId, title: eventId } },
    { at, venue, kind: "market", market: listingOf({ marketId, eventId, title, outcomeLabel, venueKeys: { series } }) },
    book,
  ];
}

export async function convertKalshiDepth(source: string, recording: string): Promise<ConversionCounts> {
  return writeSorted(recording, await readRecordingRows<DepthRow>(source), {
    source: "recorded Kalshi order books",
    keyOf: (row) => row.ticker,
    factsOf: factsOfDepth,
  });
}

await runConverter(import.meta.url, convertKalshiDepth, {
  source: "../shared/data/tape-kalshi-depth.jsonl.gz",
  recording: "kalshi-depth.jsonl.gz",
});
