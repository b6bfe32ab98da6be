/** What the test oracle expects of books, trades and price history. */
import { amount, type Expected, exactly, price, time } from "../expectation.ts";
import { displayedPrice, isCrossed } from "./price.ts";

export interface Level {
  readonly price: number;
  readonly size: number;
}

export interface ExpectedBook {
  /** Highest first. */
  readonly bids: readonly Level[];
  /** Lowest first. */
  readonly asks: readonly Level[];
  /** undefined if the recording does not contain it. */
  readonly last: number | null;
}

/** Sorts both sides, best first. A crossed book is an inconsistent read and must not be shown: it becomes empty. */
export function orderedBook(bids: readonly Level[], asks: readonly Level[], last: number | null): ExpectedBook {
  const sortedBids = bids.toSorted((a, b) => b.price - a.price);
  const sortedAsks = asks.toSorted((a, b) => a.price - b.price);
  const top = { bid: sortedBids[0]?.price ?? null, ask: sortedAsks[0]?.price ?? null };
  return isCrossed(top) ? { bids: [], asks: [], last } : { bids: sortedBids, asks: sortedAsks, last };
}

export function bookTopFacts({ bids, asks, last }: ExpectedBook): Expected {
  const [bid, ask] = [bids[0], asks[0]];
  return {
    bid: price(bid?.price ?? null),
    ask: price(ask?.price ?? null),
    bid_size: amount(bid?.size ?? null),
    ask_size: amount(ask?.size ?? null),
    yes_price: price(displayedPrice({ bid: bid?.price ?? null, ask: ask?.price ?? null, last })),
  };
}

/** One row of a tape or a history, and what must become of it. */
export interface ExpectedItem {
  readonly raw: unknown;
  /** Why the adapter must leave the row out; null if it must read it. Documented in README.md. */
  readonly leftOut: string | null;
  /** Unix milliseconds. */
  readonly at: number;
  readonly facts: Expected;
  /** The trade; absent for other rows. */
  readonly trade?: ExpectedTrade;
}

export function leftOutItem(raw: unknown, reason: string): ExpectedItem {
  return { raw, leftOut: reason, at: 0, facts: {} };
}

export interface ExpectedTrade {
  readonly at: number;
  /** Price of the YES contract. */
  readonly yesPrice: number;
  readonly size: number;
  /** The side that the taker bought; null if unknown. */
  readonly takerSide: "yes" | "no" | null;
  /** The transaction; trades of one transaction and side may be reported as one. Null if each row is a trade. */
  readonly transaction?: string | null;
}

export function tradeItem(raw: unknown, trade: ExpectedTrade, timeToleranceMs = 0): ExpectedItem {
  return {
    raw,
    leftOut: null,
    at: trade.at,
    trade,
    facts: {
      at: time(trade.at, timeToleranceMs),
      yes_price: price(trade.yesPrice),
      size: amount(trade.size, 1e-6),
      taker_side: exactly(trade.takerSide),
    },
  };
}

/** Sums up the trades of each transaction and side at their average price. Other items are unchanged. */
export function mergeTransactions(items: readonly ExpectedItem[]): ExpectedItem[] {
  const groups = new Map<string, [ExpectedTrade, ...ExpectedTrade[]]>();
  const rawOf = new Map<string, unknown>();
  for (const [index, { trade, raw }] of items.entries()) {
    if (trade === undefined) continue;
    const key = trade.transaction == null ? `row ${index}` : `${trade.transaction} ${trade.takerSide}`;
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, [trade]);
      rawOf.set(key, raw);
    } else group.push(trade);
  }
  return [...groups].map(([key, [first, ...others]]) => {
    const trades = [first, ...others];
    const size = trades.reduce((sum, trade) => sum + trade.size, 0);
    const notional = trades.reduce((sum, trade) => sum + trade.size * trade.yesPrice, 0);
    const times = trades.map(({ at }) => at);
    const merged = { ...first, size, yesPrice: Math.round((notional / size) * 1e6) / 1e6 };
    return tradeItem(rawOf.get(key), merged, Math.max(...times) - Math.min(...times));
  });
}
