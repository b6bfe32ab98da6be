import { isCrossed } from "./order-book.ts";
import { midPrice, toMicros } from "./price.ts";

/** Public name of a venue, as configuration spells it (`PARALLAX_VENUES`). */
export type VenueId = string;

/**
 * pending: listed, trading has not begun. active: orders are taken. closed: no orders, no result yet.
 * determined: a result is proposed or in its dispute window. finalized: settled. Backward steps happen on every venue.
 */
export type MarketStatus = "pending" | "active" | "closed" | "determined" | "finalized";

export const MARKET_STATUSES: readonly MarketStatus[] = ["pending", "active", "closed", "determined", "finalized"];

/** How a question was settled. `value` is what one YES contract pays, in [0, 1]. */
export type Outcome =
  | { readonly kind: "yes" }
  | { readonly kind: "no" }
  | { readonly kind: "partial"; readonly value: number }
  | { readonly kind: "void"; readonly value: number | null };

/** What a taker pays per contract at price p of the side bought, in USD per contract (`venues.md` section 6). */
export type TakerFee =
  | { readonly kind: "none" }
  /** rate * (p (1 - p)) ^ exponent */
  | { readonly kind: "quadratic"; readonly rate: number; readonly exponent: number }
  /** Share of traded value withheld from the contracts bought: p * b / (1 - b), b read from the points by price. */
  | { readonly kind: "value_table"; readonly buyPoints: readonly (readonly [price: number, share: number])[] }
  /** rate * p */
  | { readonly kind: "flat_value"; readonly rate: number };

/** The slowly changing facts of one tradable question. Times are Unix milliseconds, UTC. */
export interface MarketListing {
  readonly venue: VenueId;
  readonly marketId: string;
  /** The venue's id of the event that groups this question with others; null when it stands alone. */
  readonly eventId: string | null;
  readonly title: string;
  /** Name of the outcome inside its event ("Over 1 inch"), null when the title says it all. */
  readonly outcomeLabel: string | null;
  readonly url: string | null;
  readonly category: string | null;
  readonly status: MarketStatus;
  /** Active, yet the venue takes no orders at the moment. */
  readonly paused: boolean;
  readonly outcome: Outcome | null;
  /** Plain text of the resolution rules. */
  readonly rules: string | null;
  readonly openAt: number | null;
  /** When the venue stops taking orders. */
  readonly closeAt: number | null;
  /** When the venue expects the result, else its latest date for it. */
  readonly expectedResolutionAt: number | null;
  readonly resolvedAt: number | null;
  /** Smallest price step in price units. */
  readonly tickSize: number | null;
  readonly takerFee: TakerFee | null;
  /** Ids that only this venue's adapter understands (token ids, series, condition id); never shown. */
  readonly venueKeys: Readonly<Record<string, string>>;
}

/** What can be paid and got now. A side nobody quotes is null, never 0 or 1. Prices in (0, 1), sizes in contracts. */
export interface Quote {
  readonly bid: number | null;
  readonly ask: number | null;
  readonly bidSize: number | null;
  readonly askSize: number | null;
  readonly lastPrice: number | null;
  /** The venue's own indication where it has no book (an AMM's probability); null where it has one. */
  readonly indicativePrice: number | null;
  /** When the venue says this was true; null when it does not say. */
  readonly eventAt: number | null;
  /** When the answer began to arrive here. */
  readonly receivedAt: number;
}

/** USD figures as the venue defines them; null where it does not publish one or deals in play money. */
export interface Activity {
  readonly volume24hUsd: number | null;
  readonly volumeTotalUsd: number | null;
  readonly liquidityUsd: number | null;
  readonly openInterestUsd: number | null;
}

/** One market as a venue's listing shows it. */
export interface MarketSnapshot {
  readonly listing: MarketListing;
  readonly quote: Quote;
  readonly activity: Activity;
}

/** A real-world question that groups markets of one venue. */
export interface EventListing {
  readonly venue: VenueId;
  readonly eventId: string;
  readonly title: string;
  readonly description: string | null;
  readonly category: string | null;
  readonly url: string | null;
  /** At most one of its markets resolves YES. */
  readonly mutuallyExclusive: boolean;
  /** Its markets cover every possibility; only where the venue promises it. */
  readonly exhaustive: boolean;
  /** The venue's own promotion. */
  readonly featured: boolean;
  readonly endAt: number | null;
}

/** A venue's timestamp further ahead of our clock than this is wrong. */
export const VENUE_CLOCK_AHEAD_MS_MAX = 2_000;

/** Above this spread the mid of a two-sided book says nothing and the last trade stands in (contract section 3). */
export const MAX_MID_SPREAD = 0.1;

/**
 * The price a reader sees: mid of a two-sided book whose spread is at most 0.10, else the last trade, else the venue's
 * indication, else null. A crossed book (bid >= ask) is not two-sided.
 */
export function yesPrice(quote: Pick<Quote, "bid" | "ask" | "lastPrice" | "indicativePrice">): number | null {
  const { bid, ask } = quote;
  if (
    bid !== null &&
    ask !== null &&
    !isCrossed(bid, ask) &&
    toMicros(ask) - toMicros(bid) <= toMicros(MAX_MID_SPREAD)
  ) {
    return midPrice(bid, ask);
  }
  return quote.lastPrice ?? quote.indicativePrice;
}
