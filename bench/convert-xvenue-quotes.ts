/**
 * Converts recorded quotes of equal contracts on Kalshi and Polymarket to a recording that the sandbox can replay
 * (docs/recording.md).
 *
 *   node bench/convert-xvenue-quotes.ts [source] [recording]
 */
import type { Fact } from "../src/recording/index.ts";
import {
  type ConversionCounts,
  listingOf,
  NO_EVENT,
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

/** Null for a side without orders, which the source stores as 0, 1 or null. */
export function quotedPrice(price: number | null): number | null {
  return price !== null && price > 0 && price < 1 ? price : null;
}

/** The quotes of both venues; the source has no sizes. */
function factsOfXvenue(row: XvenueRow, isFirst: boolean): Fact[] {
  const at = Date.parse(row.ts);
  const { ticker } = row.kalshi;
  const contracts = [
    { venue: "kalshi", prices: row.kalshi, marketId: ticker, eventId: ticker.slice(0, ticker.lastIndexOf("-")) },
    {
      venue: "polymarket",
      prices: row.polymarket,
      marketId: row.polymarket.market_id,
      eventId: row.polymarket.event_id,
    },
  ];
  return contracts.flatMap(({ venue, prices, marketId, eventId }): Fact[] => {
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
    const market = listingOf({
      marketId,
      eventId,
      title: `${row.contest} — ${row.outcome}`,
      outcomeLabel: row.outcome,
      venueKeys: {},
    });
    return [
      { at, venue, kind: "event", event: { ...NO_EVENT, eventId, title: row.contest } },
      { at, venue, kind: "market", market },
      quote,
    ];
  });
}

export async function convertXvenueQuotes(source: string, recording: string): Promise<ConversionCounts> {
  return writeSorted(recording, await readRecordingRows<XvenueRow>(source), {
    source: "recorded quotes of two venues",
    keyOf: (row) => row.kalshi.ticker,
    factsOf: factsOfXvenue,
  });
}

await runConverter(import.meta.url, convertXvenueQuotes, {
  source: "../shared/data/tape-xvenue-quotes.jsonl.gz",
  recording: "xvenue-quotes.jsonl.gz",
});
