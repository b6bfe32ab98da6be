import type { EventChildren } from "./event-children.ts";
import { isCrossed } from "./order-book.ts";
import type { PriceRange } from "./order-rules.ts";
import { midPrice, toMicros } from "./price.ts";

/** Public name of a venue, as in the configuration (`PARALLAX_VENUES`). */
export type VenueId = string;

/**
 * pending: listed, trading has not started. active: open for orders. closed: not open for orders, without a result.
 * determined: a result is proposed or can be disputed. finalized: settled. At every venue, a market can also return to
 * an earlier status.
 */
export type MarketStatus = "pending" | "active" | "closed" | "determined" | "finalized";

export const MARKET_STATUSES: readonly MarketStatus[] = ["pending", "active", "closed", "determined", "finalized"];

/** How a market was settled. `value` is the payout of one YES contract, in [0, 1]. */
export type Outcome =
  | { readonly kind: "yes" }
  | { readonly kind: "no" }
  | { readonly kind: "partial"; readonly value: number }
  | { readonly kind: "void"; readonly value: number | null };

/** Returns the payout of one YES contract, in [0, 1], or null if the venue does not report it. */
export function settlementValueOf(outcome: Outcome): number | null {
  if (outcome.kind === "yes") return 1;
  return outcome.kind === "no" ? 0 : outcome.value;
}

/** Fee as a share of the traded value, by price. */
export type FeeShares = readonly (readonly [price: number, share: number])[];

/** How a venue rounds the fee of an order, in USD. */
export interface FeeRounding {
  /** The fee at each price is rounded up to a multiple of this. */
  readonly feeStep: number;
  /** The change of the trader's balance is then rounded to a multiple of this, to the trader's disadvantage. */
  readonly balanceStep: number;
}

/** A taker's fee in USD per contract. p is the price of the side that is traded. */
export type TakerFee =
  | { readonly kind: "none" }
  /** Fee: rate * (p * (1 - p)) ^ exponent. */
  | { readonly kind: "quadratic"; readonly rate: number; readonly exponent: number; readonly rounding?: FeeRounding }
  /**
   * Fee of a purchase: p * b / (1 - b). b is the share of `buyPoints` for the price; the venue deducts it from the
   * contracts bought. Fee of a sale: p * s, with the share s of `sellPoints`.
   */
  | { readonly kind: "value_table"; readonly buyPoints: FeeShares; readonly sellPoints: FeeShares }
  /** Fee: rate * p. */
  | { readonly kind: "flat_value"; readonly rate: number };

/** The data of a market that rarely changes. Times are Unix milliseconds. */
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
  /** True if the market is active but the venue currently accepts no orders. */
  readonly paused: boolean;
  readonly outcome: Outcome | null;
  /** Plain text of the resolution rules. */
  readonly rules: string | null;
  readonly openAt: number | null;
  /** When the venue stops accepting orders. */
  readonly closeAt: number | null;
  /** Time at which the venue expects the result, or the venue's deadline for it. */
  readonly expectedResolutionAt: number | null;
  readonly resolvedAt: number | null;
  /** Allowed order prices, ascending and without overlaps; null if the venue does not publish them. */
  readonly priceRanges: readonly PriceRange[] | null;
  readonly minOrderContracts: number | null;
  /** Order sizes are multiples of this number of contracts. */
  readonly contractStep: number | null;
  /** Time for which the venue delays a taker order before matching it. */
  readonly takerDelayMs: number | null;
  /** Version of the trading protocol, as the venue names it. */
  readonly protocolVersion: string | null;
  readonly takerFee: TakerFee | null;
  /** Ids that only this venue's adapter uses (token ids, series, condition id); never returned to clients. */
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
  /** When the response or message arrived. */
  readonly receivedAt: number;
}

export const EMPTY_QUOTE: Omit<Quote, "receivedAt"> = {
  bid: null,
  ask: null,
  bidSize: null,
  askSize: null,
  lastPrice: null,
  indicativePrice: null,
  eventAt: null,
};

/** Amounts in USD, as the venue defines them; null if the venue does not publish them or uses play money. */
export interface Activity {
  readonly volume24hUsd: number | null;
  readonly volumeTotalUsd: number | null;
  readonly liquidityUsd: number | null;
  readonly openInterestUsd: number | null;
}

export const EMPTY_ACTIVITY: Activity = {
  volume24hUsd: null,
  volumeTotalUsd: null,
  liquidityUsd: null,
  openInterestUsd: null,
};

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
  /** True if at most one market of the event resolves YES. */
  readonly mutuallyExclusive: boolean;
  /**
   * True only if the venue guarantees that all its markets of the event cover every possibility.
   * `findIncompleteSetReason` decides whether the markets on the board do.
   */
  readonly exhaustive: boolean;
  /** Counts of the event's rows in the venue's response; null if the response does not contain all rows. */
  readonly children: EventChildren | null;
  /** True if the venue promotes this event. */
  readonly featured: boolean;
  readonly endAt: number | null;
}

/** Maximum time by which a venue's timestamp may be ahead of our clock. A later timestamp is treated as wrong. */
export const VENUE_CLOCK_AHEAD_MS_MAX = 2_000;

/** Maximum spread of an order book whose mid is used as the price. */
const MAX_MID_SPREAD = 0.1;

/** Returns the mid of a two-sided order book with a spread of at most 0.10; null otherwise, and for a crossed book. */
export function midOfBook(bid: number | null, ask: number | null): number | null {
  if (bid === null || ask === null || isCrossed(bid, ask)) return null;
  return toMicros(ask) - toMicros(bid) <= toMicros(MAX_MID_SPREAD) ? midPrice(bid, ask) : null;
}

/**
 * The displayed price: the mid of the order book (`midOfBook`), else the last trade price, else the indicative price of
 * a market without quotes, else null. The last trade price is limited to the range of bid and ask, because an older
 * price outside it is no longer tradable. A market with a bid or an ask has no indicative price, because venues derive
 * it from the same quotes.
 */
export function yesPrice(quote: Pick<Quote, "bid" | "ask" | "lastPrice" | "indicativePrice">): number | null {
  const { bid, ask, lastPrice, indicativePrice } = quote;
  const mid = midOfBook(bid, ask);
  if (mid !== null) return mid;
  if (lastPrice === null) return bid === null && ask === null ? indicativePrice : null;
  return isCrossed(bid, ask) ? lastPrice : Math.max(bid ?? 0, Math.min(lastPrice, ask ?? 1));
}
