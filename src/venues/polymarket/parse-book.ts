import { type BookLevel, isCrossed, normaliseBook, type OrderBook } from "../../domain/order-book.ts";
import { complement, parseDecimal, parseTradablePrice, toMicros } from "../../domain/price.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { parseMs, parseQuotedPrice } from "./parse-values.ts";
import { type Book, isLevel } from "./wire.ts";

/** Maximum number of levels per side. A valid book has fewer, even at the smallest price increment. */
const LEVELS_MAX = 10_000;

/** Parses the levels of one side in the venue's order. Levels without a tradable price are counted and omitted. */
export function parseLevels(rows: readonly unknown[] | null, countDrop: DropCounter): BookLevel[] {
  const levels: BookLevel[] = [];
  for (const row of rows ?? []) {
    const price = isLevel(row) ? parseTradablePrice(row.price) : null;
    const size = isLevel(row) ? parseDecimal(row.size) : null;
    if (price === null) countDrop(isLevel(row) ? "price_out_of_range" : "bad_row");
    else if (size === null || size < 0) countDrop("bad_row");
    else if (size > 0) levels.push({ price, size });
  }
  return levels;
}

/** Returns the best `LEVELS_MAX` levels of a side, which are the last ones. */
function bestOf(rows: readonly unknown[] | null, countDrop: DropCounter): readonly unknown[] | null {
  if (rows === null || rows.length <= LEVELS_MAX) return rows;
  countDrop("book_too_deep", rows.length - LEVELS_MAX);
  return rows.slice(-LEVELS_MAX);
}

/** The last price that the venue sends for a market without trades. */
const NO_TRADE_PRICE = 0.5;

/**
 * Returns whether the best prices show that the last price is that of the NO token: its complement is nearer to them.
 * The venue sends the same last price in the books of both tokens.
 */
function isOfNoToken(lastPrice: number, bid: number | null, ask: number | null): boolean {
  const distanceOf = (price: number) =>
    Math.max(0, toMicros(bid ?? 0) - toMicros(price), toMicros(price) - toMicros(ask ?? 1));
  return distanceOf(complement(lastPrice)) < distanceOf(lastPrice);
}

/**
 * Parses the book of the YES token, which the venue sends with the best levels last. A crossed book becomes empty, and
 * the best `LEVELS_MAX` levels of a side are kept.
 */
export function parseBook(row: Book, receivedAt: number, countDrop: DropCounter): OrderBook {
  const book = normaliseBook(
    parseLevels(bestOf(row.bids, countDrop), countDrop),
    parseLevels(bestOf(row.asks, countDrop), countDrop),
  );
  const [bid, ask] = [book.bids[0]?.price ?? null, book.asks[0]?.price ?? null];
  const isBookCrossed = isCrossed(bid, ask);
  if (isBookCrossed) countDrop("crossed_book");
  const lastPrice = parseQuotedPrice(row.last_trade_price, countDrop);
  const isKnown = lastPrice !== null && lastPrice !== NO_TRADE_PRICE && !isOfNoToken(lastPrice, bid, ask);
  return {
    ...(isBookCrossed ? { bids: [], asks: [] } : book),
    lastPrice: isKnown ? lastPrice : null,
    eventAt: parseMs(row.timestamp),
    receivedAt,
  };
}
