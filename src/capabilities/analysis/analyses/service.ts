import type { BoardMarket } from "../../../board/index.ts";
import { AppError, invalidValue } from "../../../domain/errors.ts";
import type { VenueId } from "../../../domain/market.ts";
import { selectAnalysesOfCustomer, selectLatestAnalysis } from "./analysis-queries.ts";
import { type CurrentEstimates, toLatestEstimate } from "./current-estimates.ts";
import type { LatestEstimates } from "./latest-estimates.ts";
import type { CurrentAnalysis, StoredAnalysis } from "./model.ts";
import type { AnalysesPorts } from "./ports.ts";
import type { Runs } from "./runs.ts";

type ServicePorts = Pick<AnalysesPorts, "database" | "board" | "getMarket"> & {
  readonly runs: Runs;
  readonly latest: Pick<LatestEstimates, "remember">;
  readonly estimates: Pick<CurrentEstimates, "move">;
};

/** A run that was started or joined, and the seconds until it ends. */
interface Requested {
  readonly analysisId: string;
  readonly estimatedSeconds: number;
}

const createNotOpenError = (marketId: string) =>
  invalidValue(["path", "market_id"], "the market is not open for trading, so it cannot be analysed", marketId);

export type AnalysesService = ReturnType<typeof createAnalysesService>;

export function createAnalysesService({ database, board, runs, latest, estimates, getMarket }: ServicePorts) {
  const findMarket = async (venue: VenueId, marketId: string): Promise<BoardMarket> =>
    board.find(venue, marketId) ?? (await getMarket(venue, marketId));

  const read = async (venue: VenueId, marketId: string): Promise<StoredAnalysis | null> => {
    const stored = await selectLatestAnalysis(database, venue, marketId);
    // The event log delivers it about a second later, but all responses of this node must contain the same analysis.
    if (stored !== null) latest.remember(toLatestEstimate(stored));
    return stored;
  };
  const moveToBoard = (stored: StoredAnalysis): CurrentAnalysis =>
    estimates.move(stored, board.find(stored.venue, stored.marketId));

  return {
    getStatus: runs.getStatus,
    findRunning: runs.findRunning,

    /**
     * Starts an analysis, or joins the one that is running.
     *
     * @throws AppError `market_not_found`, `venue_unavailable`, `overloaded`, `rate_limited`; InvalidRequestError if
     *   the market is not open; VenueError
     */
    async analyse(
      venue: VenueId,
      marketId: string,
      options: { readonly customerId: string; readonly isForced: boolean },
    ): Promise<Requested> {
      const market = await findMarket(venue, marketId);
      // Rejected here, because an accepted run uses a unit of the quota. There is nothing to estimate after the end of
      // trading, and an estimate starts from the price.
      if (market.listing.status !== "active") throw createNotOpenError(marketId);
      if (market.yesPrice === null)
        throw new AppError("venue_unavailable", "The venue currently has no price for this market");
      // Read before the run is queued: if this read fails, the call fails and no run exists.
      const estimatedSeconds = await runs.estimateSeconds();
      return { analysisId: await runs.request(market, options), estimatedSeconds };
    },

    /**
     * Starts an analysis without research, or joins the one that is running.
     *
     * @throws AppError `overloaded`, `rate_limited`, `store_unavailable`
     */
    async analyseLightly(market: BoardMarket, customerId: string): Promise<Requested> {
      const estimatedSeconds = await runs.estimateSeconds("light");
      return { analysisId: await runs.requestLight(market, customerId), estimatedSeconds };
    },

    /** Returns the latest analysis of a market as it was stored, or null. */
    latest: read,

    /** Returns an analysis at the price of `market`, which can be newer than the one on the board. */
    move: (stored: StoredAnalysis, market: BoardMarket): CurrentAnalysis => estimates.move(stored, market),

    /** @throws AppError `market_not_found`, `analysis_not_found`; VenueError */
    async getCurrent(venue: VenueId, marketId: string): Promise<CurrentAnalysis> {
      const stored = await read(venue, marketId);
      if (stored !== null) return moveToBoard(stored);
      await findMarket(venue, marketId);
      throw new AppError("analysis_not_found", "This market has not been analysed yet");
    },

    /** The completed analyses that a caller started or joined, newest first, at the current prices. */
    async listOf(customerId: string, limit: number): Promise<CurrentAnalysis[]> {
      return (await selectAnalysesOfCustomer(database, customerId, limit)).map(moveToBoard);
    },
  };
}
