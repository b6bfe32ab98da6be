import { type Category, categoryOf } from "../domain/category.ts";
import type { Activity, EventListing, MarketListing, MarketStatus, Quote, VenueId } from "../domain/market.ts";
import { fromMicros, toMicros } from "../domain/price.ts";
import type { OrderedPosition } from "./ordered-index.ts";

/** Sort keys of market lists. `resolution_date` sorts ascending, all others descending. */
export const SORT_KEYS = [
  "volume_24h",
  "liquidity",
  "open_interest",
  "updated_at",
  "resolution_date",
  "price_change_24h",
  "edge",
] as const;
export type SortKey = (typeof SORT_KEYS)[number];

/** A market on the board. Immutable: each change creates a new object. */
export interface BoardMarket {
  readonly row: number;
  readonly listing: MarketListing;
  readonly quote: Quote;
  readonly activity: Activity;
  readonly yesPrice: number | null;
  /**
   * Last confirmation of the quote, Unix milliseconds: venue time for a streamed quote, our time for a polled quote.
   */
  readonly updatedAt: number;
  readonly priceDayAgo: number | null;
  /** Primary key in the store; null until the market has been stored. */
  readonly storeKey: number | null;
}

export interface BoardEvent {
  readonly slug: string;
  readonly listing: EventListing;
}

/** Result of an update. It determines what the caller stores and publishes. */
export interface BoardChange {
  readonly market: BoardMarket;
  readonly isNew: boolean;
  readonly listingChanged: boolean;
  readonly quoteChanged: boolean;
  /** The market before the update; null if it is new. */
  readonly previous: BoardMarket | null;
}

/** Selects markets that have a price. */
export interface MarketFilter {
  readonly venues: readonly VenueId[];
  readonly statuses: readonly MarketStatus[];
  /** One of our categories or a category of a venue, case-insensitive; null selects all categories. */
  readonly category: string | null;
  readonly text: string | null;
}

export interface MarketQuery extends MarketFilter {
  readonly sort: SortKey;
  /** Whether the order of the sort key is reversed. Markets without a value are last in both orders. */
  readonly isReversed?: boolean;
  readonly limit: number;
  /** Position of the last market of the previous page; null for the first page. */
  readonly after: OrderedPosition | null;
}

/** A market whose words are similar to those of a question. */
export interface QuestionMatch {
  readonly market: BoardMarket;
  /** In (0, 1]. */
  readonly similarity: number;
}

/** The active markets of one category. */
export interface CategorySummary {
  readonly category: Category;
  readonly marketCount: number;
  /** Sum in USD over the markets whose volume is known; null if none is known. */
  readonly volume24hUsd: number | null;
}

/** Whether a filter selects a venue's category. The filter is our or a venue's category, in lower case. */
export function isInCategory(venueCategory: string | null, filter: string): boolean {
  return venueCategory?.toLowerCase() === filter || categoryOf(venueCategory)?.toLowerCase() === filter;
}

/** Receives every change of the board, synchronously. It must not change the board. */
export interface MarketObserver {
  /** A market was added or changed. */
  onSet(market: BoardMarket): void;
  /** The market of a row was removed. The row may be reused. */
  onRemove(row: number): void;
  /** An event was added or changed. Its markets are unchanged. */
  onEvent?(event: BoardEvent): void;
}

export type QuoteRejectionReason = "out_of_order" | "crossed_book" | "unknown_market";

/** Slug of an event in API paths. */
export const eventSlug = (venue: VenueId, eventId: string): string => `${venue}:${eventId.toLowerCase()}`;

/** Slug of a market's event; null if the market has none. */
export function eventSlugOf({ venue, eventId }: Pick<MarketListing, "venue" | "eventId">): string | null {
  return eventId === null ? null : eventSlug(venue, eventId);
}

/** Current price minus the price 24 hours ago; null if either is unknown. */
export function priceChange24h(market: Pick<BoardMarket, "yesPrice" | "priceDayAgo">): number | null {
  if (market.yesPrice === null || market.priceDayAgo === null) return null;
  return fromMicros(toMicros(market.yesPrice) - toMicros(market.priceDayAgo));
}
