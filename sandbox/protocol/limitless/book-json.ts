import type { BookState, Level, ListedMarket } from "../../world/types.ts";
import { limitlessTokens } from "./ids.ts";
import { roundTo6Decimals } from "./units.ts";

/** Quotes of a book without orders. */
const PLACEHOLDER_BID = 0.001;
const PLACEHOLDER_ASK = 0.999;

function presentLevels(
  levels: readonly Level[],
  side: "BUY" | "SELL",
): { price: number; size: number; side: string }[] {
  return levels.map(({ price, size }) => ({ price, size: Math.round(size * 1e6), side }));
}

/**
 * Presents the price fields of a listing row as [yes, no]. A book without orders has placeholders as quotes. What the
 * venue sends for one missing side is not confirmed: 0 for a bid, 1 for an ask. `prices` is the mid of the quotes.
 */
export function presentBookPrices(book: BookState): Record<string, unknown> {
  const isEmpty = book.bids.length === 0 && book.asks.length === 0;
  const bid = book.bids[0]?.price ?? (isEmpty ? PLACEHOLDER_BID : 0);
  const ask = book.asks[0]?.price ?? (isEmpty ? PLACEHOLDER_ASK : 1);
  // A recorded indicative price replaces the price derived from the book; null means that the venue sent none.
  const yes = book.indicativePrice ?? Math.round(((bid + ask) / 2) * 1000) / 1000;
  return {
    prices: book.indicativePrice === null ? undefined : [yes, roundTo6Decimals(1 - yes)],
    tradePrices: {
      buy: { market: [ask, roundTo6Decimals(1 - bid)], limit: [bid, roundTo6Decimals(1 - ask)] },
      sell: { market: [bid, roundTo6Decimals(1 - ask)], limit: [ask, roundTo6Decimals(1 - bid)] },
    },
  };
}

/** Presents the YES book. Sizes are integers with six implied decimals. */
export function presentBook(market: ListedMarket, book: BookState) {
  return {
    bids: presentLevels(book.bids, "BUY"),
    asks: presentLevels(book.asks, "SELL"),
    tokenId: limitlessTokens(market).yes,
  };
}
