/**
 * Converts recorded quotes of equal markets on Kalshi and Polymarket to a recording that the sandbox can replay
 * (docs/recording.md).
 *
 *   node bench/convert-xvenue-quotes.ts [source] [recording]
 */
import type { Fact } from "../src/recording/index.ts";
import {
  type ConversionCounts,
  createListing,
  EMPTY_EVENT_FIELDS,
  readRecordingRows,
  runConverter,
  writeSorted,
} from "./support/recording.ts";

interface BestPrices {
  readonly yes_bid: number | null;
  readonly yes_ask: number | null;
}

export interface XvenueRow {
  readonly ts: string;
  readonly outcome: string;
  readonly contest: string;
  readonly kalshi: BestPrices & { readonly ticker: string };
  readonly polymarket: BestPrices & { readonly event_id: string; readonly market_id: string };
}

/** Returns the price, or null if the side has no orders (0, 1 or null in the source). */
export function quotedPrice(price: number | null): number | null {
  return price !== null && price > 0 && price < 1 ? price : null;
}

/** Converts one row to the quotes of both venues. The source has no sizes. */
function convertXvenueRow(row: XvenueRow, isFirst: boolean): Fact[] {
  const at = Date.parse(row.ts);
  const { ticker } = row.kalshi;
  const listings = [
    { venue: "kalshi", prices: row.kalshi, marketId: ticker, eventId: ticker.slice(0, ticker.lastIndexOf("-")) },
    {
      venue: "polymarket",
      prices: row.polymarket,
      marketId: row.polymarket.market_id,
      eventId: row.polymarket.event_id,
    },
  ];
  return listings.flatMap(({ venue, prices, marketId, eventId }): Fact[] => {
    const quote: Fact = {
      at,
      venue,
      kind: "quote",
      marketId,
      quote: {
        bid: quotedPrice(prices.yes_bid),
        ask: quotedPrice(prices.yes_ask),
        bidSize: null,
        askSize: null,
        lastPrice: null,
        indicativePrice: null,
        eventAt: at,
      },
    };
    if (!isFirst) return [quote];
    const market = createListing({
      marketId,
      eventId,
      title: `${row.contest} — ${row.outcome}`,
      outcomeLabel: row.outcome,
      venueKeys: {},
    });
    return [
      { at, venue, kind: "event", event: { ...EMPTY_EVENT_FIELDS, eventId, title: row.contest } },
      { at, venue, kind: "market", market },
      quote,
    ];
  });
}

export async function convertXvenueQuotes(source: string, recording: string): Promise<ConversionCounts> {
  return writeSorted(recording, await readRecordingRows<XvenueRow>(source), {
    source: "recorded quotes of two venues",
    keyOf: (row) => row.kalshi.ticker,
    detailsOf: convertXvenueRow,
  });
}

await runConverter(import.meta.url, convertXvenueQuotes, {
  source: "../shared/data/tape-xvenue-quotes.jsonl.gz",
  recording: "xvenue-quotes.jsonl.gz",
});
