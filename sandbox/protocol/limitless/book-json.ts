import type { BookState, Level, ListedMarket } from "../../world/types.ts";
import { limitlessTokens } from "./ids.ts";

const MAX_SPREAD = 0.035;
const MIN_SIZE = 50_000_000;

function round6(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

function levels(side: readonly Level[], word: "BUY" | "SELL"): { price: number; size: number; side: string }[] {
  return side.map((level) => ({ price: level.price, size: Math.round(level.size * 1e6), side: word }));
}

/** Mean of the best prices, the one there is when only one side is quoted, 0 for an empty book. */
function midpoint(book: BookState): number {
  const bid = book.bids[0]?.price;
  const ask = book.asks[0]?.price;
  if (bid !== undefined && ask !== undefined) return round6((bid + ask) / 2);
  return bid ?? ask ?? 0;
}

/** `prices` and `tradePrices` of a listing row, as [yes, no]; a side nobody quotes is 0 to sell and 1 to buy. */
export function bookPrices(book: BookState): Record<string, unknown> {
  const bid = book.bids[0]?.price ?? 0;
  const ask = book.asks[0]?.price ?? 1;
  const isEmpty = book.bids.length === 0 && book.asks.length === 0;
  const shown = isEmpty ? (book.lastPrice ?? 0.5) : midpoint(book);
  const yes = Math.round(shown * 1000) / 1000;
  const { indicativePrice } = book;
  return {
    // Recorded is the indication itself, where the venue's said more than its book.
    ...(indicativePrice === undefined ? { prices: [yes, round6(1 - yes)] } : {}),
    ...(typeof indicativePrice === "number" ? { prices: [indicativePrice, round6(1 - indicativePrice)] } : {}),
    tradePrices: {
      buy: { market: [ask, round6(1 - bid)], limit: [bid, round6(1 - ask)] },
      sell: { market: [bid, round6(1 - ask)], limit: [ask, round6(1 - bid)] },
    },
  };
}

/** Answer of the order book endpoint: the YES book, sizes as integers with six implied decimals. */
export function presentBook(market: ListedMarket, book: BookState): Record<string, unknown> {
  return {
    bids: levels(book.bids, "BUY"),
    asks: levels(book.asks, "SELL"),
    tokenId: limitlessTokens(market).yes,
    adjustedMidpoint: midpoint(book),
    midpoint: midpoint(book),
    maxSpread: String(MAX_SPREAD),
    minSize: String(MIN_SIZE),
    lastTradePrice: book.lastPrice,
  };
}

/** The same book inside a socket frame, where limits are numbers and the last trade is not told. */
export function presentSocketBook(market: ListedMarket, book: BookState): Record<string, unknown> {
  return {
    bids: levels(book.bids, "BUY"),
    asks: levels(book.asks, "SELL"),
    tokenId: limitlessTokens(market).yes,
    adjustedMidpoint: midpoint(book),
    midpoint: midpoint(book),
    maxSpread: MAX_SPREAD,
    minSize: MIN_SIZE,
  };
}
