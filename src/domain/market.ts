import { isCrossed } from "./order-book.ts";
import { midPrice, toMicros } from "./price.ts";

/** Public name of a venue, as in the configuration (`PARALLAX_VENUES`). */
export type VenueId = string;

/**
 * pending: listed, trading has not started. active: open for orders. closed: not open for orders, without a result.
 * determined: a result is proposed or can be disputed. finalized: settled. Every venue also moves markets backwards.
 */
export type MarketStatus = "pending" | "active" | "closed" | "determined" | "finalized";

export const MARKET_STATUSES: readonly MarketStatus[] = ["pending", "active", "closed", "determined", "finalized"];

/** How a market was settled. `value` is the payout of one YES contract, in [0, 1]. */
export type Outcome =
  | { readonly kind: "yes" }
  | { readonly kind: "no" }
  | { readonly kind: "partial"; readonly value: number }
  | { readonly kind: "void"; readonly value: number | null };

/** A taker's fee in USD per contract at price p of the side bought (`venues.md` section 6). */
export type TakerFee =
  | { readonly kind: "none" }
  /** rate * (p (1 - p)) ^ exponent */
  | { readonly kind: "quadratic"; readonly rate: number; readonly exponent: number }
  /** Share b of the traded value, deducted from the contracts bought: p * b / (1 - b), with b looked up by price. */
  | { readonly kind: "value_table"; readonly buyPoints: readonly (readonly [price: number, share: number])[] }
  /** rate * p */
  | { readonly kind: "flat_value"; readonly rate: number };

/** The slowly changing data of one tradable question. Times are Unix milliseconds, UTC. */
export interface MarketListing {
  readonly venue: VenueId;
  readonly marketId: string;
  /** The venue's id of the event that groups this market with others; null if there is none. */
  readonly eventId: string | null;
  readonly title: string;
  /** Name of the outcome within its event ("Over 1 inch"); null if the title contains it. */
  readonly outcomeLabel: string | null;
  readonly url: string | null;
  readonly category: string | null;
  readonly status: MarketStatus;
  /** The market is active, but the venue currently accepts no orders. */
  readonly paused: boolean;
  readonly outcome: Outcome | null;
  /** Plain text of the resolution rules. */
  readonly rules: string | null;
  readonly openAt: number | null;
  /** When the venue stops accepting orders. */
  readonly closeAt: number | null;
  /** When the venue expects the result, or its deadline for it. */
  readonly expectedResolutionAt: number | null;
  readonly resolvedAt: number | null;
  /** Smallest price step in price units. */
  readonly tickSize: number | null;
  readonly takerFee: TakerFee | null;
  /** Ids for this venue's adapter (token ids, series, condition id); never returned to clients. */
  readonly venueKeys: Readonly<Record<string, string>>;
}

/** Current best prices. A side without a quote is null, never 0 or 1. Prices in (0, 1), sizes in contracts. */
export interface Quote {
  readonly bid: number | null;
  readonly ask: number | null;
  readonly bidSize: number | null;
  readonly askSize: number | null;
  readonly lastPrice: number | null;
  /** The venue's indicative price if it has no order book, such as an AMM's probability; otherwise null. */
  readonly indicativePrice: number | null;
  /** The venue's timestamp; null if it sends none. */
  readonly eventAt: number | null;
  /** When the response arrived. */
  readonly receivedAt: number;
}

/** USD figures by the venue's definitions; null if not published or in play money. */
export interface Activity {
  readonly volume24hUsd: number | null;
  readonly volumeTotalUsd: number | null;
  readonly liquidityUsd: number | null;
  readonly openInterestUsd: number | null;
}

/** The state of one market in a venue's listing. */
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
  /** Its markets cover every possibility; true only if the venue guarantees it. */
  readonly exhaustive: boolean;
  /** The venue promotes this event. */
  readonly featured: boolean;
  readonly endAt: number | null;
}

/** A venue's timestamp further ahead of our clock than this is wrong. */
export const VENUE_CLOCK_AHEAD_MS_MAX = 2_000;

/** Above this spread the last trade is used instead of the mid (contract section 3). */
export const MAX_MID_SPREAD = 0.1;

/**
 * The displayed price: the mid of a two-sided book with a spread of at most 0.10, else the last trade, else the venue's
 * indicative price, else null. A crossed book is not two-sided.
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
