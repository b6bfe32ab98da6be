import type { BoardMarket } from "../../../board/index.ts";
import { yesPrice } from "../../../domain/market.ts";
import type { OrderBook } from "../../../domain/order-book.ts";
import type { Offer } from "../../../trading/index.ts";

/** Prices that were confirmed longer ago are not current. */
const BOOK_AGE_MS_MAX = 300_000;

/** book: all levels of the tracked order book. quote: the best prices only, if their sizes are known. */
export const BOOK_SOURCES = ["book", "quote"] as const;

/** The offers that are known without a request to the venue. */
export interface KnownBook {
  readonly source: (typeof BOOK_SOURCES)[number];
  /** When the prices were confirmed, Unix milliseconds. */
  readonly at: number;
  /** Highest first. */
  readonly bids: readonly Offer[];
  /** Lowest first. */
  readonly asks: readonly Offer[];
}

/** Returns the tracked order book, else the best prices with their sizes; null if they are older than five minutes. */
export function knownBookOf(market: BoardMarket, tracked: OrderBook | null, now: number): KnownBook | null {
  if (tracked !== null) return { source: "book", at: now, bids: tracked.bids, asks: tracked.asks };
  const { bid, bidSize, ask, askSize } = market.quote;
  if (now - market.updatedAt > BOOK_AGE_MS_MAX) return null;
  const toOffers = (price: number | null, size: number | null): Offer[] =>
    price === null || size === null || !(size > 0) ? [] : [{ price, size }];
  return { source: "quote", at: market.updatedAt, bids: toOffers(bid, bidSize), asks: toOffers(ask, askSize) };
}

/** The market with the best prices of a book; unchanged if the book has no price. */
export function quoteBook(
  market: BoardMarket,
  { bids, asks }: Pick<OrderBook, "bids" | "asks">,
  now: number,
): BoardMarket {
  const [bid, ask] = [bids[0] ?? null, asks[0] ?? null];
  const quote = {
    ...market.quote,
    bid: bid?.price ?? null,
    bidSize: bid?.size ?? null,
    ask: ask?.price ?? null,
    askSize: ask?.size ?? null,
  };
  const price = yesPrice(quote);
  return price === null ? market : { ...market, quote, yesPrice: price, updatedAt: now };
}
