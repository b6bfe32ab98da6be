import type { BoardMarket, MarketBoard } from "../../../board/index.ts";
import { AppError } from "../../../domain/errors.ts";
import type { VenueId } from "../../../domain/market.ts";

const MARKET_ID_LENGTH_MAX = 512;

/**
 * Returns a function that finds a market on the board, with or without a price, or fetches it from its venue. It throws
 * AppError `market_not_found`, or VenueError if the venue request fails.
 */
export function createMarketFinder({
  board,
  fetchMarket,
}: {
  readonly board: MarketBoard;
  readonly fetchMarket: (venue: VenueId, marketId: string) => Promise<boolean>;
}) {
  const createNotFoundError = () => new AppError("market_not_found", "There is no such market on this venue");

  return async (venue: VenueId, marketId: string): Promise<BoardMarket> => {
    if (marketId.length > MARKET_ID_LENGTH_MAX || marketId === "") throw createNotFoundError();
    const market = board.find(venue, marketId);
    if (market !== null) return market;
    await fetchMarket(venue, marketId);
    const fetchedMarket = board.find(venue, marketId);
    if (fetchedMarket === null) throw createNotFoundError();
    return fetchedMarket;
  };
}
