import type { BoardMarket } from "../../../board/index.ts";
import { acceptsOrders, validCloseTime, validResolutionTime } from "../../../domain/close-time.ts";
import { yesPrice } from "../../../domain/market.ts";
import type { BookLevel, OrderBook } from "../../../domain/order-book.ts";
import type { SignalInput } from "../../../trading/index.ts";

/** Maximum time since the last confirmation of current prices. */
const BOOK_AGE_MS_MAX = 300_000;

/** book: all levels of the tracked order book. quote: the best prices only, if their sizes are known. */
export const BOOK_SOURCES = ["book", "quote"] as const;

/** Bids and asks in memory, without a request to the venue. */
export interface KnownBook extends Pick<OrderBook, "bids" | "asks"> {
  readonly source: (typeof BOOK_SOURCES)[number];
  /** When the prices were confirmed, Unix milliseconds. */
  readonly at: number;
}

/** Returns the tracked order book, else the best prices with their sizes; null if they are older than five minutes. */
export function knownBookOf(market: BoardMarket, tracked: OrderBook | null, now: number): KnownBook | null {
  if (tracked !== null) return { source: "book", at: now, bids: tracked.bids, asks: tracked.asks };
  const { bid, bidSize, ask, askSize } = market.quote;
  if (now - market.updatedAt > BOOK_AGE_MS_MAX) return null;
  const toLevels = (price: number | null, size: number | null): BookLevel[] =>
    price === null || size === null || !(size > 0) ? [] : [{ price, size }];
  return { source: "quote", at: market.updatedAt, bids: toLevels(bid, bidSize), asks: toLevels(ask, askSize) };
}

/** Returns the market with the best prices of an order book; unchanged if the book is empty. */
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

/** Returns the market data for a decision on a trade. */
export function toTradedMarket(market: BoardMarket, isPlayMoney: boolean, now: number): SignalInput["market"] {
  const { listing, updatedAt } = market;
  return {
    kind: isPlayMoney ? "play_money" : "money",
    isOpen: acceptsOrders(listing, updatedAt, now),
    closeAt: validCloseTime(listing, now),
    resolutionAt: validResolutionTime(listing, now),
    priceRanges: listing.priceRanges,
    takerFee: listing.takerFee,
    minOrderContracts: listing.minOrderContracts,
    contractStep: listing.contractStep,
  };
}
