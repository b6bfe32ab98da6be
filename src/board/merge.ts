import type { Activity, EventListing, Quote } from "../domain/market.ts";
import { isCrossed } from "../domain/order-book.ts";

/** Removes bid and ask if they are crossed. A poll can return a crossed book if the venue is updating it at that time. */
export function removeCrossedBook(quote: Quote): Quote {
  return isCrossed(quote.bid, quote.ask) ? { ...quote, bid: null, ask: null, bidSize: null, askSize: null } : quote;
}

/** Returns the quote, with the last price of the previous quote if it has none. */
export function keepPreviousLastPrice(quote: Quote, previous: Quote | undefined): Quote {
  return quote.lastPrice === null && previous !== undefined && previous.lastPrice !== null
    ? { ...quote, lastPrice: previous.lastPrice }
    : quote;
}

export function isSameQuote(a: Quote, b: Quote): boolean {
  return (
    a.bid === b.bid &&
    a.ask === b.ask &&
    a.lastPrice === b.lastPrice &&
    a.indicativePrice === b.indicativePrice &&
    a.bidSize === b.bidSize &&
    a.askSize === b.askSize
  );
}

/** Returns the event; without child counts, with the counts of the previous listing. */
export function keepChildren(event: EventListing, previous: EventListing | undefined): EventListing {
  if (event.children !== null || previous === undefined || previous.children === null) return event;
  const { mutuallyExclusive, exhaustive, children } = previous;
  return { ...event, mutuallyExclusive, exhaustive, children };
}

/** Returns the next activity, with previous figures in place of unknown ones. */
export function mergeActivity(previous: Activity | undefined, next: Activity): Activity {
  if (previous === undefined) return next;
  return {
    volume24hUsd: next.volume24hUsd ?? previous.volume24hUsd,
    volumeTotalUsd: next.volumeTotalUsd ?? previous.volumeTotalUsd,
    liquidityUsd: next.liquidityUsd ?? previous.liquidityUsd,
    openInterestUsd: next.openInterestUsd ?? previous.openInterestUsd,
  };
}
