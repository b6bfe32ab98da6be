import type { BookState, Level, ListedMarket } from "../../world/types.ts";
import { limitlessTokens } from "./ids.ts";
import { round6 } from "./units.ts";

/** Quotes within this spread and of at least this size (raw units) earn liquidity rewards. */
export const REWARD_SPREAD_MAX = 0.035;
export const REWARD_SIZE_MIN = 50_000_000;

function presentLevels(
  levels: readonly Level[],
  side: "BUY" | "SELL",
): { price: number; size: number; side: string }[] {
  return levels.map(({ price, size }) => ({ price, size: Math.round(size * 1e6), side }));
}

/** Mid of the best prices; the best price of a one-sided book; 0 for an empty book. */
function midpoint(book: BookState): number {
  const bid = book.bids[0]?.price;
  const ask = book.asks[0]?.price;
  if (bid !== undefined && ask !== undefined) return round6((bid + ask) / 2);
  return bid ?? ask ?? 0;
}

/** `prices` and `tradePrices` of a listing row, as [yes, no]. A missing bid is sent as 0, a missing ask as 1. */
export function bookPrices(book: BookState): Record<string, unknown> {
  const bid = book.bids[0]?.price ?? 0;
  const ask = book.asks[0]?.price ?? 1;
  const isEmpty = book.bids.length === 0 && book.asks.length === 0;
  const price = isEmpty ? (book.lastPrice ?? 0.5) : midpoint(book);
  // A recorded indicative price replaces the price derived from the book; null means that the venue sent none.
  const yes = book.indicativePrice ?? Math.round(price * 1000) / 1000;
  return {
    prices: book.indicativePrice === null ? undefined : [yes, round6(1 - yes)],
    tradePrices: {
      buy: { market: [ask, round6(1 - bid)], limit: [bid, round6(1 - ask)] },
      sell: { market: [bid, round6(1 - ask)], limit: [ask, round6(1 - bid)] },
    },
  };
}

/** Response of the order book endpoint: the YES book, sizes as integers with six implied decimals. */
export function presentBook(market: ListedMarket, book: BookState): Record<string, unknown> {
  return {
    ...commonFields(market, book),
    maxSpread: String(REWARD_SPREAD_MAX),
    minSize: String(REWARD_SIZE_MIN),
    lastTradePrice: book.lastPrice,
  };
}

/** The same book in a socket frame: numeric limits, no last trade price. */
export function presentSocketBook(market: ListedMarket, book: BookState): Record<string, unknown> {
  return { ...commonFields(market, book), maxSpread: REWARD_SPREAD_MAX, minSize: REWARD_SIZE_MIN };
}

function commonFields(market: ListedMarket, book: BookState): Record<string, unknown> {
  return {
    bids: presentLevels(book.bids, "BUY"),
    asks: presentLevels(book.asks, "SELL"),
    tokenId: limitlessTokens(market).yes,
    adjustedMidpoint: midpoint(book),
    midpoint: midpoint(book),
  };
}
