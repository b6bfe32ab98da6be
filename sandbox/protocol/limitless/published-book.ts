import type { BookState, ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";

/** Returns whether the market is in a deterministic sample of one market in `count`; false for recorded markets. */
export function isSampled(market: ListedMarket, count: number): boolean {
  if (market.recorded !== undefined) return false;
  return (Math.imul(market.index + 1, 0x9e3779b1) >>> 0) % count === 0;
}

/** One in this many markets has no orders until its first trade. */
const MARKETS_PER_UNQUOTED_MARKET = 2;

/** Returns whether the market has no orders: it is one of the sampled markets and has no trade. */
export function isUnquoted(market: ListedMarket, lastPrice: number | null): boolean {
  return lastPrice === null && isSampled(market, MARKETS_PER_UNQUOTED_MARKET);
}

/** Returns the book that the venue publishes: empty if the market has no orders yet. */
export function publishedBook({ world }: ExchangeContext, market: ListedMarket, at: number): BookState {
  const book = world.book(market, at);
  return isUnquoted(market, book.lastPrice) ? { ...book, bids: [], asks: [] } : book;
}
