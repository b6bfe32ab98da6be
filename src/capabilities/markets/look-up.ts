import type { BoardMarket } from "../../board/index.ts";
import { AppError } from "../../domain/errors.ts";
import type { MarketRef } from "../../domain/market-name.ts";
import { chunksOf } from "../../lib/chunks.ts";
import type { MarketDependencies } from "./ports.ts";

/** Maximum number of concurrent requests to venues for markets that are not on the board. Ingest allows four. */
const LOOK_UPS_MAX = 2;

/**
 * Returns the named markets, from the board or else from their venues.
 *
 * @param describeUnknown  message of the error for a market that does not exist
 * @throws AppError `market_not_found`; VenueError
 */
export async function lookUpMarkets<Name extends MarketRef>(
  { board, getMarket }: Pick<MarketDependencies, "board" | "getMarket">,
  names: readonly Name[],
  describeUnknown: (name: Name) => string,
): Promise<BoardMarket[]> {
  const lookUp = async (name: Name): Promise<BoardMarket> => {
    try {
      return board.find(name.venue, name.marketId) ?? (await getMarket(name.venue, name.marketId));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "market_not_found") throw error;
      throw new AppError("market_not_found", describeUnknown(name), { cause: error });
    }
  };
  const markets: BoardMarket[] = [];
  for (const chunk of chunksOf(names, LOOK_UPS_MAX)) markets.push(...(await Promise.all(chunk.map(lookUp))));
  return markets;
}
