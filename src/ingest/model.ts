import type { BoardMarket } from "../board/index.ts";
import type { MarketListing, VenueId } from "../domain/market.ts";
import type { ListingDetails, VenueAdapter } from "../ports/venue.ts";
import type { HistoryFetcher, PastPrices } from "../storage/index.ts";
import type { BookReader } from "./book-reader.ts";
import type { LastHourFigures } from "./last-hour-figures.ts";
import type { LiveObserver } from "./live-feed.ts";
import type { TradeHistory } from "./on-demand/trade-history.ts";
import type { StoreWriter } from "./store-writer.ts";
import type { VenueStatusReport } from "./venue-health.ts";

export interface Ingest {
  /** Loads the board from the store. Returns the number of markets. */
  restore(): Promise<number>;
  start(): void;
  /** True if the first sweep of every venue has completed or failed, on the node that reads the venue. */
  readonly isSettled: boolean;
  health(): Record<VenueId, VenueStatusReport>;
  /**
   * Requests one market from its venue and adds it to the board. Returns false if the venue does not have the market;
   * for the next ten minutes the market is then not requested again.
   */
  lookUp(venue: VenueId, marketId: string): Promise<boolean>;
  /** Order books, read from the stream or the venue. */
  readonly books: Pick<BookReader, "read" | "readOrLast" | "tracked">;
  /** Trades, read from the venue and the store. */
  readonly trades: Pick<TradeHistory, "read">;
  /** Returns the venue-specific data of a market for clients; null for a venue that is not configured. */
  detailsOf(listing: MarketListing): ListingDetails | null;
  readonly lastHours: Pick<LastHourFigures, "find">;
  readonly pastPrices: PastPrices & HistoryFetcher;
  /** The thread in which the ingest runs; null if it is this thread. */
  readonly thread: { readonly isUp: boolean; readonly restarts: number } | null;
  readonly counters: StoreWriter["counters"];
  /** Names of the background jobs whose last run failed. */
  readonly failingJobs: readonly string[];
  stop(): Promise<void>;
}

/** An ingest that runs in this thread. */
export interface LocalIngest extends Ingest {
  /** Sets the observer that receives live prices and trades of the venues that this node reads. */
  observe(observer: LiveObserver): void;
  /** Requests the takers of a market's latest trades from venues whose trade list, but not their stream, has takers. */
  requestTakers(market: BoardMarket): void;
  /** Requests price history from the venue, within the limits of the current caller. */
  readonly getHistory: VenueAdapter["getHistory"];
  /** Stores a new market immediately and sets its store key on the board. */
  storeMarket(market: BoardMarket): Promise<void>;
}
