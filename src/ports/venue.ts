import type { EventListing, MarketListing, MarketSnapshot, Quote, VenueId } from "../domain/market.ts";
import type { OrderBook } from "../domain/order-book.ts";
import type { HistoryPoint, Trade } from "../domain/trade.ts";

/** One page of a listing. */
export interface ListingPage {
  readonly markets: readonly MarketSnapshot[];
  readonly events: readonly EventListing[];
  /** Total rows of the listing as the venue reports it; null if it does not. */
  readonly totalRows: number | null;
  /** When the request was sent, Unix milliseconds: the page contains no state older than that. */
  readonly requestedAt: number;
  /** Set on the last page of an incomplete listing: a missing market is not evidence that it was delisted. */
  readonly incompleteReason?: IncompleteReason;
}

/**
 * Why a listing is incomplete. page_loop: a cursor or a page was repeated. page_empty: a page was empty although another
 * was announced. page_short: fewer rows than the reported total. page_limit: too many pages.
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
  | { readonly kind: "trade"; readonly marketId: string; readonly trade: Trade; readonly receivedAt: number }
  /** The market's status or settings changed; it must be read again. */
  | { readonly kind: "changed"; readonly marketId: string; readonly receivedAt: number }
  /** The venue listed a new market. */
  | { readonly kind: "listed"; readonly marketId: string; readonly receivedAt: number };

export interface StreamHandlers {
  onMessage(message: StreamMessage): void;
  /** The stream is connected and the subscriptions are sent. */
  onUp(): void;
  /** The stream is disconnected; it reconnects with a growing delay. */
  onDown(reason: string): void;
}

export interface VenueStream {
  /** Replaces the subscribed markets. Uses the first `streamMarketsMax` of them. */
  follow(markets: readonly MarketListing[]): void;
  close(): void;
}

/** How to read this venue within its rate limits. */
export interface VenueProfile {
  /** Pause between the end of one sweep and the start of the next. */
  readonly sweepPauseMs: number;
  /** Pause between two polls of the most active markets; null if sweeps or the stream make them unnecessary. */
  readonly activePollMs: number | null;
  /** Most markets that the stream can subscribe to. */
  readonly streamMarketsMax: number;
  /** Without a usable response for this long the venue is stale. */
  readonly staleAfterMs: number;
  /** The venue publishes no 24-hour volume, so it is summed from trades. */
  readonly volumeFromTrades: boolean;
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

/** Public market data of one venue in domain terms. Every method throws `VenueError` without a usable response. */
export interface VenueAdapter {
  readonly id: VenueId;
  /** A reference venue: not allowed in paths or filters, and its amounts are not USD. */
  readonly playMoney: boolean;
  readonly profile: VenueProfile;
  /** All markets that are open or about to open, page by page, with their events. */
  listOpenMarkets(signal: AbortSignal): AsyncIterable<ListingPage>;
  /** The current state of individual markets, also of closed and settled ones, without those that the venue does not have. */
  getMarkets(
    listings: readonly Pick<MarketListing, "marketId" | "venueKeys">[],
    signal: AbortSignal,
  ): Promise<ListingPage>;
  /** One market by its public id; null if the venue does not have it. */
  findMarket(marketId: string, signal: AbortSignal): Promise<ListingPage | null>;
  /** The order book; null if the market has none (AMM, resolved). */
  getBook(listing: MarketListing, signal: AbortSignal): Promise<OrderBook | null>;
  /** Trades at or after `sinceMs`, newest first, at most `limit`. */
  listTrades(listing: MarketListing, sinceMs: number, limit: number, signal: AbortSignal): Promise<readonly Trade[]>;
  /** Past prices, oldest first. Points lie in [fromMs, toMs); their interval is the venue's finest at or below `intervalMs`. */
  getHistory(
    listing: MarketListing,
    range: { readonly fromMs: number; readonly toMs: number; readonly intervalMs: number },
    signal: AbortSignal,
  ): Promise<readonly HistoryPoint[]>;
  /** Opens the stream; null if the venue has none or it requires a key that is not configured. */
  openStream(handlers: StreamHandlers): VenueStream | null;
}
