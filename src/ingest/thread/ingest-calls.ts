import type { BoardMarket, MarketBoard } from "../../board/index.ts";
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
 * Creates the functions that the ingest thread runs for the other thread. A market that is not on the board of the
 * ingest thread has no order book, trades or history.
 *
 * @param sendNow  sends the current state of a market before the result of the call
 */
export function createIngestCalls(ingest: LocalIngest, board: MarketBoard, sendNow: (market: BoardMarket) => void) {
  const find = ({ venue, marketId }: MarketRef) => board.find(venue, marketId);
  return {
    async lookUp(_: AbortSignal, venue: VenueId, marketId: string): Promise<boolean> {
      const isFound = await ingest.lookUp(venue, marketId);
      const market = board.find(venue, marketId);
      if (market !== null) sendNow(market);
      return isFound;
    },
    async readBook(_: AbortSignal, ref: MarketRef): Promise<OrderBook | null> {
      const market = find(ref);
      return market === null ? null : ingest.books.read(market);
    },
    async readBookOrLast(_: AbortSignal, ref: MarketRef) {
      const market = find(ref);
      return market === null ? { book: null, isStale: false } : ingest.books.readOrLast(market);
    },
    async trackedBooks(_: AbortSignal, refs: readonly MarketRef[]): Promise<readonly (OrderBook | null)[]> {
      return ingest.books.tracked(refs);
    },
    async readTrades(_: AbortSignal, ref: MarketRef, after: TradePosition | null, limit: number): Promise<TradePage> {
      const market = find(ref);
      return market === null ? { trades: [], next: null } : ingest.trades.read(market, after, limit);
    },
    async getHistory(signal: AbortSignal, ref: MarketRef, range: HistoryRange): Promise<readonly HistoryPoint[]> {
      const market = find(ref);
      return market === null ? [] : ingest.getHistory(market.listing, range, signal);
    },
    /** Stores a new market immediately. */
    async storeMarket(_: AbortSignal, ref: MarketRef): Promise<void> {
      const market = find(ref);
      if (market === null) return;
      await ingest.storeMarket(market);
      const stored = find(ref);
      if (stored !== null) sendNow(stored);
    },
    async setPriceDayAgo(_: AbortSignal, ref: MarketRef, price: number): Promise<void> {
      const market = find(ref);
      if (market !== null) board.annotate(market, { priceDayAgo: price });
    },
  };
}
