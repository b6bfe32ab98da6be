import type { MarketBoard } from "../../board/index.ts";
import type { MarketListing } from "../../domain/market.ts";
import type { BoardBatch, SentMarket } from "./messages.ts";
import { readQuote } from "./quote-columns.ts";

/**
 * Applies the batches of one ingest thread to this thread's board. Rows of the two boards differ, so each ingest thread
 * needs its own replica.
 */
export function createBoardReplica(board: MarketBoard) {
  /** The listing of each row of the ingest thread's board. */
  const listings: (MarketListing | undefined)[] = [];

  const setMarket = ({ row, ...market }: SentMarket, keepsNewer: boolean) => {
    const { venue, marketId } = market.listing;
    const current = board.find(venue, marketId);
    const isNewer = keepsNewer && current !== null && current.updatedAt > market.updatedAt;
    listings[row] = isNewer ? current.listing : board.replicate(market).listing;
  };

  return {
    /**
     * @param keepsNewer  whether markets that this board knows from a later time stay as they are: an ingest thread that
     *   replaces another one begins with the stored prices
     */
    apply({ removed, events, markets, quotes, quoteCount }: BoardBatch, keepsNewer: boolean): void {
      for (const row of removed) {
        const listing = listings[row];
        listings[row] = undefined;
        const market = listing === undefined ? null : board.find(listing.venue, listing.marketId);
        if (market !== null) board.remove(market);
      }
      for (const event of events) board.applyEvent(event);
      for (const market of markets) setMarket(market, keepsNewer);
      for (let index = 0; index < quoteCount; index++) {
        const quote = readQuote(quotes, index);
        const listing = listings[quote.row];
        if (listing !== undefined) setMarket({ ...quote, listing }, keepsNewer);
      }
    },
  };
}
