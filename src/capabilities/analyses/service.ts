import type { BoardMarket, MarketBoard } from "../../board/index.ts";
import { AppError } from "../../domain/errors.ts";
import type { VenueId } from "../../domain/market.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Database } from "../../ports/database.ts";
import { selectLatest, selectOfCustomer } from "./analysis-queries.ts";
import { type Freshness, freshnessOf } from "./freshness.ts";
import type { StoredAnalysis } from "./model.ts";
import type { Runs } from "./runs.ts";

export interface AnalysesPorts {
  readonly database: Database;
  readonly board: MarketBoard;
  readonly clock: Clock;
  readonly runs: Runs;
  /** Returns a market, or fetches it from its venue. Throws AppError `market_not_found`. */
  readonly getMarket: (venue: VenueId, marketId: string) => Promise<BoardMarket>;
}

export type AnalysesService = ReturnType<typeof createAnalysesService>;

/** Requests analyses and reads their results. */
export function createAnalysesService({ database, board, clock, runs, getMarket }: AnalysesPorts) {
  const findMarket = async (venue: VenueId, marketId: string): Promise<BoardMarket> =>
    board.find(venue, marketId) ?? (await getMarket(venue, marketId));
  const priceOf = (venue: VenueId, marketId: string) => board.find(venue, marketId)?.yesPrice ?? null;

  return {
    getStatus: runs.getStatus,
    priceOf,

    /**
     * Starts an analysis, or joins the one that is running.
     *
     * @throws AppError `market_not_found`, `venue_unavailable`, `overloaded`, `rate_limited`; VenueError
     */
    async analyse(
      venue: VenueId,
      marketId: string,
      options: { readonly customerId: string; readonly isForced: boolean },
    ): Promise<{ readonly analysisId: string; readonly estimatedSeconds: number }> {
      const market = await findMarket(venue, marketId);
      // Rejected here, because an accepted run uses a unit of the quota, and a market without a price cannot be analysed.
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
    async analyseLightly(
      market: BoardMarket,
      customerId: string,
    ): Promise<{ readonly analysisId: string; readonly estimatedSeconds: number }> {
      const estimatedSeconds = await runs.estimateSeconds("light");
      return { analysisId: await runs.requestLight(market, customerId), estimatedSeconds };
    },

    /** Returns the latest analysis of a market, or null. */
    latest: (venue: VenueId, marketId: string): Promise<StoredAnalysis | null> =>
      selectLatest(database, venue, marketId),

    /** Freshness of an analysis at the market's current price. */
    freshnessNow({ venue, marketId, analysedAt, result: { analysis } }: StoredAnalysis): Freshness {
      const judged = { analysedAt, interval: analysis.interval, marketPrice: analysis.marketPrice };
      return freshnessOf(judged, priceOf(venue, marketId), clock.now());
    },

    /** @throws AppError `market_not_found`, `analysis_not_found`; VenueError */
    async getLatest(venue: VenueId, marketId: string): Promise<StoredAnalysis> {
      const stored = await selectLatest(database, venue, marketId);
      if (stored !== null) return stored;
      await findMarket(venue, marketId);
      throw new AppError("analysis_not_found", "This market has not been analysed yet");
    },

    /** The completed analyses that a caller started or joined, newest first. */
    listOf: (customerId: string, limit: number): Promise<StoredAnalysis[]> =>
      selectOfCustomer(database, customerId, limit),
  };
}
