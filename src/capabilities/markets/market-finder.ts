import type { BoardMarket, MarketBoard } from "../../board/index.ts";
import { AppError } from "../../domain/errors.ts";
import type { VenueId } from "../../domain/market.ts";
import type { Clock } from "../../ports/clock.ts";

const MARKET_ID_LENGTH_MAX = 512;
/** If the venue does not have a market, it is not queried for that market again for this time. */
const NOT_FOUND_CACHE_MS = 10 * 60_000;
const NOT_FOUND_ENTRIES_MAX = 10_000;

/**
 * Returns a function that finds a market on the board, with or without a price, or fetches it from its venue. It throws
 * AppError `market_not_found`, or VenueError if the venue request fails.
 */
export function createMarketFinder({
  board,
  clock,
  fetchMarket,
}: {
  readonly board: MarketBoard;
  readonly clock: Clock;
  readonly fetchMarket: (venue: VenueId, marketId: string) => Promise<boolean>;
}) {
  const notFoundUntil = new Map<string, number>();
  const pendingLookUps = new Map<string, Promise<boolean>>();
  const createNotFoundError = () => new AppError("market_not_found", "There is no such market on this venue");

  const lookUp = (venue: VenueId, marketId: string): Promise<boolean> => {
    const id = `${venue}/${marketId}`;
    const pendingLookUp = pendingLookUps.get(id);
    if (pendingLookUp !== undefined) return pendingLookUp;
    const newLookUp = fetchMarket(venue, marketId).finally(() => pendingLookUps.delete(id));
    pendingLookUps.set(id, newLookUp);
    return newLookUp;
  };

  return async (venue: VenueId, marketId: string): Promise<BoardMarket> => {
    if (marketId.length > MARKET_ID_LENGTH_MAX || marketId === "") throw createNotFoundError();
    const market = board.find(venue, marketId);
    if (market !== null) return market;
    const id = `${venue}/${marketId}`;
    const now = clock.now();
    if ((notFoundUntil.get(id) ?? 0) > now) throw createNotFoundError();
    await lookUp(venue, marketId);
    const fetchedMarket = board.find(venue, marketId);
    if (fetchedMarket !== null) return fetchedMarket;
    notFoundUntil.set(id, now + NOT_FOUND_CACHE_MS);
    for (const oldest of notFoundUntil.keys()) {
      if (notFoundUntil.size <= NOT_FOUND_ENTRIES_MAX) break;
      notFoundUntil.delete(oldest);
    }
    throw createNotFoundError();
  };
}
