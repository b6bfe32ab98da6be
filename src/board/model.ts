import type { Activity, EventListing, MarketListing, MarketStatus, Quote, VenueId } from "../domain/market.ts";
import { fromMicros, toMicros } from "../domain/price.ts";

/** Orders a list may have. `resolution_date` runs from the soonest on, all others from the largest down. */
export const SORT_KEYS = [
  "volume_24h",
  "liquidity",
  "open_interest",
  "updated_at",
  "resolution_date",
  "price_change_24h",
] as const;
export type SortKey = (typeof SORT_KEYS)[number];

/** One market as the board holds it. Replaced, never changed, so that a reader's copy stays true to itself. */
export interface BoardMarket {
  readonly row: number;
  readonly listing: MarketListing;
  readonly quote: Quote;
  readonly activity: Activity;
  readonly yesPrice: number | null;
  /** When the quote was last confirmed: the venue's time for a streamed one, ours for a polled one. */
  readonly updatedAt: number;
  readonly priceDayAgo: number | null;
  /** Key of its rows in the store; null until it was stored. */
  readonly storeKey: number | null;
}

export interface BoardEvent {
  readonly slug: string;
  readonly listing: EventListing;
}

/** What an update did, so that the caller knows what to store and tell. */
export interface BoardChange {
  readonly market: BoardMarket;
  readonly isNew: boolean;
  readonly listingChanged: boolean;
  readonly quoteChanged: boolean;
  readonly previousStatus: MarketStatus | null;
}

export interface MarketQuery {
  readonly venues: readonly VenueId[];
  readonly statuses: readonly MarketStatus[];
  readonly category: string | null;
  readonly text: string | null;
  readonly sort: SortKey;
  readonly limit: number;
  /** Continue behind this position: the sort value and id of the last market seen. */
  readonly after: { readonly value: number | null; readonly id: string } | null;
}

export type QuoteRefusal = "out_of_order" | "crossed_book" | "unknown_market";

/** Slug of an event in our paths. */
export function eventSlug(venue: VenueId, eventId: string): string {
  return `${venue}:${eventId.toLowerCase()}`;
}

/** Present price minus the price 24 hours ago, null when either is unknown. */
export function priceChange24h(market: Pick<BoardMarket, "yesPrice" | "priceDayAgo">): number | null {
  if (market.yesPrice === null || market.priceDayAgo === null) return null;
  return fromMicros(toMicros(market.yesPrice) - toMicros(market.priceDayAgo));
}
