import type { Quote } from "../../domain/market.ts";
import { type BookLevel, isCrossed, normaliseBook, type OrderBook } from "../../domain/order-book.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { parseMoment, parsePrice, parseRawSize } from "./values.ts";
import { type Book, type BookFrame, isLevel, type PriceFrame } from "./wire.ts";

/** What a frame tells; fields it does not mention stay as they are. */
export type PartialQuote = Partial<Omit<Quote, "receivedAt">>;

const LEVELS_MAX = 2_000;

/**
 * The YES book; NO interest is already folded in. Sizes are raw integers. A crossed book is dropped as a whole and
 * counted.
 */
export function parseBook(
  wire: Book,
  times: { eventAt: number | null; receivedAt: number },
  drop: DropCounter,
): OrderBook {
  const { bids, asks } = normaliseBook(parseLevels(wire.bids, drop), parseLevels(wire.asks, drop));
  const crossed = isCrossed(bids[0]?.price ?? null, asks[0]?.price ?? null);
  if (crossed) drop("crossed_book");
  return {
    bids: crossed ? [] : bids,
    asks: crossed ? [] : asks,
    lastPrice: parsePrice(wire.lastTradePrice, drop),
    ...times,
  };
}

function parseLevels(rows: readonly unknown[], drop: DropCounter): BookLevel[] {
  if (rows.length > LEVELS_MAX) drop("book_too_deep", rows.length - LEVELS_MAX);
  const levels: BookLevel[] = [];
  for (const row of rows.slice(0, LEVELS_MAX)) {
    if (!isLevel(row)) {
      drop("bad_book_level");
      continue;
    }
    const price = parsePrice(row.price, drop);
    const size = parseRawSize(row.size);
    if (price !== null && size !== null) levels.push({ price, size });
    else if (size === null) drop("bad_book_level");
  }
  return levels;
}

/** Every frame of the stream is a whole book, so both sides are told even when one is empty. */
export function parseBookFrame(frame: BookFrame, receivedAt: number, drop: DropCounter): PartialQuote {
  const { bids, asks, lastPrice, eventAt } = parseBook(
    frame.orderbook,
    { eventAt: parseMoment(frame.timestamp), receivedAt },
    drop,
  );
  const [bid, ask] = [bids[0], asks[0]];
  return {
    bid: bid?.price ?? null,
    ask: ask?.price ?? null,
    bidSize: bid?.size ?? null,
    askSize: ask?.size ?? null,
    ...(lastPrice === null ? {} : { lastPrice }),
    eventAt,
  };
}

/** What an AMM shows now; null when the frame has no usable price. Older frames write {yes, no} instead of a list. */
export function parsePriceFrame(frame: PriceFrame, drop: DropCounter): PartialQuote | null {
  const { updatedPrices: updated } = frame;
  const address = frame.marketAddress.toLowerCase();
  const yes = Array.isArray(updated)
    ? (updated.find((entry) => entry.marketAddress?.toLowerCase() === address) ?? updated[0])?.yesPrice
    : updated.yes;
  const indicativePrice = parsePrice(yes, drop);
  return indicativePrice === null ? null : { indicativePrice, eventAt: parseMoment(frame.timestamp) };
}
