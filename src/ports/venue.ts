import type { EventListing, MarketListing, MarketSnapshot, Quote, VenueId } from "../domain/market.ts";
import type { OrderBook } from "../domain/order-book.ts";
import type { HistoryPoint, Trade } from "../domain/trade.ts";

/** One answer of a paged listing. */
export interface ListingPage {
  readonly markets: readonly MarketSnapshot[];
  readonly events: readonly EventListing[];
  /** How many rows the venue says the whole listing has; null when it does not say. */
  readonly totalRows: number | null;
  /** When the request for this page was sent: facts older than that cannot be in it. */
  readonly requestedAt: number;
  /** On the last page of a sequence that is not whole: why. What such a listing lacks says nothing. */
  readonly incompleteReason?: IncompleteReason;
}

/**
 * How a sequence of pages betrayed that it is not whole: a cursor or whole page came again, a page was empty although more
 * was promised, it ended before the venue's own total, or it did not end.
 */
export type IncompleteReason = "page_loop" | "page_empty" | "page_short" | "page_limit";

/** A message of a venue's stream, already in our words. `market` is our id of it. */
export type StreamMessage =
  | {
      readonly kind: "quote";
      readonly marketId: string;
      readonly quote: Partial<Omit<Quote, "receivedAt">>;
      readonly receivedAt: number;
    }
  | { readonly kind: "trade"; readonly marketId: string; readonly trade: Trade; readonly receivedAt: number }
  /** Something about the market's life changed; fetch it again. */
  | { readonly kind: "changed"; readonly marketId: string; readonly receivedAt: number }
  /** A market not seen before was listed. */
  | { readonly kind: "listed"; readonly marketId: string; readonly receivedAt: number };

export interface StreamHandlers {
  onMessage(message: StreamMessage): void;
  /** The stream is up and carries what is subscribed. */
  onUp(): void;
  /** The stream is down; it reconnects by itself with growing delay. */
  onDown(reason: string): void;
}

export interface VenueStream {
  /** Replaces the set of markets listened to. At most `maxMarkets` are taken, the first ones. */
  follow(markets: readonly MarketListing[]): void;
  close(): void;
}

/** How the ingest treats this venue; the adapter knows best what its limits allow. */
export interface VenueProfile {
  /** Pause between the end of one full listing sweep and the start of the next. */
  readonly sweepPauseMs: number;
  /** Pause between two rounds of polling the most active markets; null where sweeps or the stream make it useless. */
  readonly activePollMs: number | null;
  /** How many of the most active markets a stream may follow. */
  readonly streamMarketsMax: number;
  /** A venue that has said nothing for this long is stale. */
  readonly staleAfterMs: number;
  /** True where the venue publishes no 24-hour volume and it is summed from the tape. */
  readonly volumeFromTrades: boolean;
}

/** Counters of what a venue sent and we could not use, by reason. */
export type DropCounter = (reason: string, count?: number) => void;

/** What drifted: a word or form that is not documented, a field that is needed and not there, a field nobody knows. */
export type DriftKind = "unknown_value" | "missing" | "new";

/**
 * Counts one departure of a venue's wire from what the adapter knows of it. `field` is the kind of object and the field
 * (`market.status`); `value` is what came, hostile and unredacted: whoever keeps it shortens and redacts it.
 */
export type DriftCounter = (kind: DriftKind, field: string, value: unknown) => void;

/** One venue's public market data in our words. Every method throws `VenueError` when the venue gives no usable answer. */
export interface VenueAdapter {
  readonly id: VenueId;
  /** Appears in responses as a reference only, never in paths or filters, and none of its amounts are USD. */
  readonly playMoney: boolean;
  readonly profile: VenueProfile;
  /** Every market that is open or about to open, page by page, with the events they belong to. */
  listOpenMarkets(signal: AbortSignal): AsyncIterable<ListingPage>;
  /** Present state of single markets, also closed and settled ones; ids the venue does not know are left out. */
  getMarkets(
    listings: readonly Pick<MarketListing, "marketId" | "venueKeys">[],
    signal: AbortSignal,
  ): Promise<ListingPage>;
  /** One market by its public id alone, or null when the venue does not know it. */
  findMarket(marketId: string, signal: AbortSignal): Promise<ListingPage | null>;
  /** Order book, or null where this market has none (AMM, resolved). */
  getBook(listing: MarketListing, signal: AbortSignal): Promise<OrderBook | null>;
  /** Trades at or after `sinceMs`, newest first, at most `limit`. */
  listTrades(listing: MarketListing, sinceMs: number, limit: number, signal: AbortSignal): Promise<readonly Trade[]>;
  /** Past prices, oldest first. Points lie in [fromMs, toMs); their interval is the venue's finest at or below `intervalMs`. */
  getHistory(
    listing: MarketListing,
    range: { readonly fromMs: number; readonly toMs: number; readonly intervalMs: number },
    signal: AbortSignal,
  ): Promise<readonly HistoryPoint[]>;
  /** Opens the venue's stream, or null where it needs a key that is not configured. */
  openStream(handlers: StreamHandlers): VenueStream | null;
}
