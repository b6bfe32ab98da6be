import type { BoardMarket, MarketBoard } from "../../board/index.ts";
import { VenueError } from "../../domain/errors.ts";
import type { VenueId } from "../../domain/market.ts";
import type { MarketRef } from "../../domain/market-name.ts";
import type { OrderBook } from "../../domain/order-book.ts";
import type { HistoryPoint } from "../../domain/trade.ts";
import type { HistoryRange } from "../../ports/venue.ts";
import type { TradePosition } from "../../storage/index.ts";
import type { LocalIngest } from "../model.ts";
import type { TradePage } from "../on-demand/trade-history.ts";

/** What the thread that answers requests calls in the ingest thread. Parameters and results are plain data. */
export type IngestCalls = ReturnType<typeof createIngestCalls>;
export type IngestCall = keyof IngestCalls;

/**
 * Creates the functions that the ingest thread runs for the other thread. They throw VenueError for a market that is not
 * on the board of the ingest thread, for example because another thread had not stored it before it failed.
 *
 * @param sendNow  sends the current state of a market before the result of the call
 */
export function createIngestCalls(ingest: LocalIngest, board: MarketBoard, sendNow: (market: BoardMarket) => void) {
  const find = ({ venue, marketId }: MarketRef): BoardMarket => {
    const market = board.find(venue, marketId);
    if (market !== null) return market;
    throw new VenueError("network", `${venue}: the market is not loaded yet; try again`, { retryable: true });
  };
  return {
    async lookUp(venue: VenueId, marketId: string): Promise<boolean> {
      const isFound = await ingest.lookUp(venue, marketId);
      const market = board.find(venue, marketId);
      if (market !== null) sendNow(market);
      return isFound;
    },
    async readBook(ref: MarketRef): Promise<OrderBook | null> {
      return ingest.books.read(find(ref));
    },
    async readBookOrLast(ref: MarketRef) {
      return ingest.books.readOrLast(find(ref));
    },
    async trackedBooks(refs: readonly MarketRef[]): Promise<readonly (OrderBook | null)[]> {
      return ingest.books.tracked(refs);
    },
    async readTrades(ref: MarketRef, after: TradePosition | null, limit: number): Promise<TradePage> {
      return ingest.trades.read(find(ref), after, limit);
    },
    async getHistory(ref: MarketRef, range: HistoryRange, signal: AbortSignal): Promise<readonly HistoryPoint[]> {
      return ingest.getHistory(find(ref).listing, range, signal);
    },
    /** Stores a new market immediately. */
    async storeMarket(ref: MarketRef): Promise<void> {
      await ingest.storeMarket(find(ref));
      sendNow(find(ref));
    },
    async setPriceDayAgo(ref: MarketRef, price: number): Promise<void> {
      board.annotate(find(ref), { priceDayAgo: price });
    },
  };
}
