import type { EventListing, MarketListing, MarketSnapshot, Quote, VenueId } from "../domain/market.ts";
import type { OrderBook } from "../domain/order-book.ts";
import type { HistoryPoint, Trade } from "../domain/trade.ts";

export interface ListingPage {
  readonly markets: readonly MarketSnapshot[];
  readonly events: readonly EventListing[];
  /** Total rows of the listing; null or absent if the venue does not report it. */
  readonly totalRows?: number | null;
  /** When the request was sent, Unix milliseconds. The page's data is at least as recent. */
  readonly requestedAt: number;
  /**
   * Set on the last page of an incomplete listing, otherwise null or absent. Markets missing from an incomplete listing
   * must not be treated as delisted.
   */
  readonly incompleteReason?: IncompleteReason | null;
}

/**
 * Why a listing is incomplete. page_loop: a cursor or a page was repeated. page_empty: a page was empty although the
 * previous page announced it. page_short: fewer rows than the reported total. page_limit: too many pages.
 */
export type IncompleteReason = "page_loop" | "page_empty" | "page_short" | "page_limit";

/** A message of a venue's stream in domain terms. */
export type StreamMessage =
  | {
      readonly kind: "quote";
      readonly marketId: string;
      readonly quote: Partial<Omit<Quote, "receivedAt">>;
      readonly receivedAt: number;
    }
  | {
      readonly kind: "trade";
      readonly marketId: string;
      /** May be emitted again with a larger size if more fills of the same trade arrive. */
      readonly trade: Trade;
      /** Price of the latest fill if `trade` has the average price of several fills; otherwise `trade.yesPrice`. */
      readonly lastPrice?: number;
      readonly receivedAt: number;
    }
  /** The market's status or settings changed, so the market must be read again. */
  | { readonly kind: "changed"; readonly marketId: string; readonly receivedAt: number }
  /** The venue listed a new market. */
  | { readonly kind: "listed"; readonly marketId: string; readonly receivedAt: number };

export interface StreamHandlers {
  onMessage(message: StreamMessage): void;
  /** Called when the stream is connected and the subscriptions are sent. */
  onUp(): void;
  /** Called when the stream is disconnected. It reconnects with a growing delay. */
  onDown(reason: string): void;
}

export interface VenueStream {
  /** Replaces the subscribed markets with the first `streamMarketsMax` of `markets`. */
  follow(markets: readonly MarketListing[]): void;
  /**
   * Returns the market's current, complete order book, or null if the stream does not track it, has lost a message or
   * is down. If the stream sends whole order books, a lost message is not detected, so the book can be up to 15 seconds
   * old. `receivedAt` is the time of the stream's last message. Absent if the adapter keeps no complete order books.
   */
  bookOf?(marketId: string): OrderBook | null;
  close(): void;
}

/** How to read this venue within its rate limits. */
export interface VenueProfile {
  /** Maximum number of requests per second that this process sends to the venue for single markets. */
  readonly requestsPerSecond: number;
  /** Minimum pause between the end of one sweep and the start of the next. */
  readonly sweepPauseMs: number;
  /**
   * Maximum number of markets that sweeps read per second on average, which limits the traffic. The pause between
   * sweeps grows with the number of markets, up to `SWEEP_PAUSE_MS_MAX`.
   */
  readonly sweepMarketsPerSecond: number;
  /** Pause between two reads of the changed markets; null if the adapter has no `listChangedMarkets`. */
  readonly changesPauseMs: number | null;
  /** Pause between two polls of the most active markets while the stream is not up; null for no polls. */
  readonly activePollMs: number | null;
  /** Maximum number of markets that the stream can subscribe to. */
  readonly streamMarketsMax: number;
  /** Time without a usable response after which the venue is stale. */
  readonly staleAfterMs: number;
  /** True if listings contain neither the 24-hour volume nor the last trade, so that both are computed from trades. */
  readonly volumeFromTrades: boolean;
  /** True if trades have a taker in `listTrades` but not in the stream. */
  readonly takersFromTrades: boolean;
}

/** Maximum usual pause between two sweeps, for any number of markets. */
const SWEEP_PAUSE_MS_MAX = 30 * 60_000;

/** Returns the usual pause after a sweep that read `markets` markets. */
export function sweepPauseAfter(profile: VenueProfile, markets: number): number {
  const pauseMs = Math.min(SWEEP_PAUSE_MS_MAX, (markets / profile.sweepMarketsPerSecond) * 1_000);
  return Math.max(profile.sweepPauseMs, pauseMs);
}

/** Counts unusable data from a venue by reason. */
export type DropCounter = (reason: string, count?: number) => void;

/** unknown_value: an undocumented value or format. missing: a required field is absent. new: an undocumented field. */
export type DriftKind = "unknown_value" | "missing" | "new";

/**
 * Counts one difference between a venue's response and its documentation. `field` is the object type and the field
 * (`market.status`). `value` is untrusted and may be private; the implementation shortens and redacts it.
 */
export type DriftCounter = (kind: DriftKind, field: string, value: unknown) => void;

/** The venue-specific data of a market for clients. */
export interface ListingDetails {
  /** clob: an order book. amm: an automated market maker, which has no order book. */
  readonly bookType: "clob" | "amm";
  /** Ids that an order at the venue needs, by public name in snake_case. Unknown ids are absent. */
  readonly ids: Readonly<Record<string, string>>;
}

/** A range of a price history in Unix milliseconds (`toMs` is exclusive), and the maximum interval of its points. */
export interface HistoryRange {
  readonly fromMs: number;
  readonly toMs: number;
  readonly intervalMs: number;
}

/** Public market data of one venue in domain terms. Every method throws `VenueError` without a usable response. */
export interface VenueAdapter {
  readonly id: VenueId;
  /** True for a reference venue: it is not allowed in paths or filters, and its amounts are not USD. */
  readonly playMoney: boolean;
  readonly profile: VenueProfile;
  /** Returns the venue-specific data of a market for clients. */
  detailsOf(listing: MarketListing): ListingDetails;
  /** Returns the markets that are open or about to open, page by page, with their events. */
  listOpenMarkets(signal: AbortSignal): AsyncIterable<ListingPage>;
  /**
   * Returns the markets, open or not, that were listed or changed at `sinceMs` (Unix milliseconds) or later, page by
   * page. Which changes count depends on the venue; trades and quotes may not. Absent if the venue cannot list changes.
   */
  listChangedMarkets?(sinceMs: number, signal: AbortSignal): AsyncIterable<ListingPage>;
  /**
   * Returns the current state of the given markets, whether open, closed or settled. Omits markets unknown to the
   * venue. `venueKeys` is empty for a market that has only been announced.
   */
  getMarkets(
    listings: readonly Pick<MarketListing, "marketId" | "venueKeys">[],
    signal: AbortSignal,
  ): Promise<ListingPage>;
  /** Returns one market by its public id, or null if the venue does not have it. */
  findMarket(marketId: string, signal: AbortSignal): Promise<ListingPage | null>;
  /** Returns the order book, or null if the market has none (AMM, resolved). */
  getBook(listing: MarketListing, signal: AbortSignal): Promise<OrderBook | null>;
  /** Returns the newest trades at or after `sinceMs`, newest first, at most `limit`. */
  listTrades(listing: MarketListing, sinceMs: number, limit: number, signal: AbortSignal): Promise<readonly Trade[]>;
  /**
   * Returns prices in [fromMs, toMs), oldest first, at the venue's finest interval at or below `intervalMs`. Omits
   * intervals for which the venue has no price or did not respond.
   */
  getHistory(listing: MarketListing, range: HistoryRange, signal: AbortSignal): Promise<readonly HistoryPoint[]>;
  /** Opens the stream. Returns null if the venue has none, or if it requires a key that is not configured. */
  openStream(handlers: StreamHandlers): VenueStream | null;
}
