import type { Quote } from "../../domain/market.ts";
import { type BookLevel, isCrossed, normaliseBook, type OrderBook } from "../../domain/order-book.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { parsePrice } from "../shared/parse-values.ts";
import { parseSize, parseTime, removePlaceholders } from "./parse-values.ts";
import { type Book, type BookFrame, isLevel, type PriceFrame } from "./wire.ts";

/** The quote fields that a frame contains. Other fields keep their values. */
export type PartialQuote = Partial<Omit<Quote, "receivedAt">>;

const LEVELS_MAX = 2_000;

/**
 * Parses the YES book, which already includes orders on NO. A crossed book is counted and all its levels are removed.
 */
export function parseBook(
  wire: Book,
  times: { eventAt: number | null; receivedAt: number },
  countDrop: DropCounter,
): OrderBook {
  const { bids, asks } = normaliseBook(parseLevels(wire.bids, countDrop), parseLevels(wire.asks, countDrop));
  const hasCrossed = isCrossed(bids[0]?.price ?? null, asks[0]?.price ?? null);
  if (hasCrossed) countDrop("crossed_book");
  return {
    bids: hasCrossed ? [] : bids,
    asks: hasCrossed ? [] : asks,
    lastPrice: parsePrice(wire.lastTradePrice, countDrop),
    ...times,
  };
}

function parseLevels(rows: readonly unknown[], countDrop: DropCounter): BookLevel[] {
  if (rows.length > LEVELS_MAX) countDrop("book_too_deep", rows.length - LEVELS_MAX);
  const levels: BookLevel[] = [];
  for (const row of rows.slice(0, LEVELS_MAX)) {
    if (!isLevel(row)) {
      countDrop("bad_book_level");
      continue;
    }
    const price = parsePrice(row.price, countDrop);
    const size = parseSize(row.size);
    if (price !== null && size !== null) levels.push({ price, size });
    else if (size === null) countDrop("bad_book_level");
  }
  return levels;
}

/** Parses a frame, which is a complete book. */
export function parseBookFrame(frame: BookFrame, receivedAt: number, countDrop: DropCounter): OrderBook {
  return parseBook(frame.orderbook, { eventAt: parseTime(frame.timestamp), receivedAt }, countDrop);
}

/** Returns the quote of an order book. An empty side or a placeholder price becomes null. */
export function quoteOfBook({ bids, asks, lastPrice, eventAt }: OrderBook): PartialQuote {
  const [bestBid, bestAsk] = [bids[0], asks[0]];
  const { bid, ask } = removePlaceholders(bestBid?.price ?? null, bestAsk?.price ?? null);
  return {
    bid,
    ask,
    bidSize: bid === null ? null : (bestBid?.size ?? null),
    askSize: ask === null ? null : (bestAsk?.size ?? null),
    ...(lastPrice === null ? {} : { lastPrice }),
    eventAt,
  };
}

/**
 * Parses the current price of an AMM. Returns null if there is no valid price. Older frames have {yes, no} instead of a
 * list.
 */
export function parsePriceFrame(frame: PriceFrame, countDrop: DropCounter): PartialQuote | null {
  const { updatedPrices: updated } = frame;
  const address = frame.marketAddress.toLowerCase();
  const yes = Array.isArray(updated)
    ? (updated.find((entry) => entry.marketAddress?.toLowerCase() === address) ?? updated[0])?.yesPrice
    : updated.yes;
  const indicativePrice = parsePrice(yes, countDrop);
  return indicativePrice === null ? null : { indicativePrice, eventAt: parseTime(frame.timestamp) };
}
