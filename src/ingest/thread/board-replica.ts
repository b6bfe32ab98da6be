import type { MarketBoard } from "../../board/index.ts";
import type { MarketListing } from "../../domain/market.ts";
import type { BoardBatch, SentMarket } from "./messages.ts";
import { readQuote } from "./quote-columns.ts";

/**
 * Applies the batches of one ingest thread to this thread's board. A market has different row numbers on the two
 * boards, so each ingest thread needs its own replica.
 *
 * @param newerThan  for a thread that replaces another one: time of its start, Unix milliseconds. Until it has confirmed a
 *   market, it knows the stored prices only, so later prices of this board are kept; null applies every price
 */
export function createBoardReplica(board: MarketBoard, newerThan: number | null) {
  /** The listing of each row of the ingest thread's board. */
  const listings: (MarketListing | undefined)[] = [];

  const setMarket = ({ row, ...market }: SentMarket) => {
    const { venue, marketId } = market.listing;
    const current = board.find(venue, marketId);
    const isConfirmed = newerThan === null || market.updatedAt >= newerThan;
    const { storeKey, priceDayAgo } = market;
    const state =
      isConfirmed || current === null || current.updatedAt <= market.updatedAt
        ? market
        : { ...current, storeKey, priceDayAgo };
    listings[row] = board.replicate(state).listing;
  };

  return {
    apply({ removed, events, markets, quotes, quoteCount }: BoardBatch): void {
      for (const row of removed) {
        const listing = listings[row];
        listings[row] = undefined;
        const market = listing === undefined ? null : board.find(listing.venue, listing.marketId);
        if (market !== null) board.remove(market);
      }
      for (const event of events) board.applyEvent(event);
      for (const market of markets) setMarket(market);
      for (let index = 0; index < quoteCount; index++) {
        const quote = readQuote(quotes, index);
        const listing = listings[quote.row];
        if (listing !== undefined) setMarket({ ...quote, listing });
      }
    },
    /** Removes the markets that the ingest thread does not have: for example those that a previous thread found but did not store. */
    removeOthers(): void {
      const own = new Set(listings);
      for (const market of [...board.markets()]) if (!own.has(market.listing)) board.remove(market);
    },
  };
}
