/** What the test oracle expects of books, trades and price history. */
import { amount, type Expected, exactly, price, time } from "../expectation.ts";
import type { JsonObject } from "../json.ts";
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
  readonly raw: JsonObject;
  /** Why the adapter must leave the row out; null if it must read it. Documented in README.md. */
  readonly leftOut: string | null;
  readonly facts: Expected;
}

export function leftOutItem(raw: JsonObject, reason: string): ExpectedItem {
  return { raw, leftOut: reason, facts: {} };
}

export interface ExpectedTrade {
  readonly at: number;
  /** Price of the YES contract. */
  readonly yesPrice: number;
  readonly size: number;
  /** The side that the taker bought; null if unknown. */
  readonly takerSide: "yes" | "no" | null;
}

export function tradeItem(raw: JsonObject, trade: ExpectedTrade): ExpectedItem {
  return {
    raw,
    leftOut: null,
    facts: {
      at: time(trade.at),
      yes_price: price(trade.yesPrice),
      size: amount(trade.size, 1e-6),
      taker_side: exactly(trade.takerSide),
    },
  };
}
