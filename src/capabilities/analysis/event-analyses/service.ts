import { type BoardMarket, findSetGap } from "../../../board/index.ts";
import { AppError } from "../../../domain/errors.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { MarketsService } from "../../markets/market-data/index.ts";
import type { AnalysesService } from "../analyses/index.ts";
import {
  type EventAnalysis,
  isOpen,
  isSumPossible,
  listOpenMarkets,
  MARKETS_MAX,
  type ProbabilityMap,
} from "./model.ts";

export interface EventAnalysesPorts {
  readonly clock: Pick<Clock, "now">;
  readonly markets: Pick<MarketsService, "getEvent">;
  readonly analyses: Pick<AnalysesService, "analyseLightly" | "latest" | "move">;
  /** Our latest estimate of the probability of YES; null if there is none. */
  readonly probabilityOf: (market: BoardMarket) => number | null;
}

/** A run that was started or joined for one market. */
export interface StartedAnalysis {
  readonly market: BoardMarket;
  readonly analysisId: string;
}

export type EventAnalysesService = ReturnType<typeof createEventAnalysesService>;

/** Analyses all markets of an event, and shows their estimates side by side. */
export function createEventAnalysesService({ clock, markets, analyses, probabilityOf }: EventAnalysesPorts) {
  return {
    /**
     * Starts analyses of the event's open markets, at most 20. They use market data only: research of each outcome would
     * cost a multiple of one analysis.
     *
     * @returns  one run per market, and the estimated seconds until all have ended
     * @throws AppError `event_not_found`, `analysis_not_found` if no market is open, `overloaded`, `rate_limited`,
     *   `store_unavailable`
     */
    async analyse(
      slug: string,
      customerId: string,
    ): Promise<{ readonly runs: readonly StartedAnalysis[]; readonly estimatedSeconds: number }> {
      const open = listOpenMarkets(markets.getEvent(slug).markets).slice(0, MARKETS_MAX);
      if (open.length === 0) throw new AppError("analysis_not_found", "No market of this event is open");
      const runs: StartedAnalysis[] = [];
      let estimatedSeconds = 1;
      for (const market of open) {
        const started = await analyses.analyseLightly(market, customerId);
        runs.push({ market, analysisId: started.analysisId });
        estimatedSeconds = Math.max(estimatedSeconds, started.estimatedSeconds);
      }
      return { runs, estimatedSeconds };
    },

    /** @throws AppError `event_not_found`, `analysis_not_found` if no market was analysed, `store_unavailable` */
    async read(slug: string): Promise<EventAnalysis> {
      const listed = listOpenMarkets(markets.getEvent(slug).markets).slice(0, MARKETS_MAX);
      const stored = await Promise.all(
        listed.map(({ listing: { venue, marketId } }) => analyses.latest(venue, marketId)),
      );
      if (stored.every((each) => each === null))
        throw new AppError("analysis_not_found", "No market of this event has been analysed yet");
      // Prices may have moved during the reads, and all figures must be of one moment.
      const { event, markets: all } = markets.getEvent(slug);
      const current = new Map(all.map((market) => [market.row, market]));
      const analysed = listed.map((market, index) => {
        const now = current.get(market.row) ?? market;
        const analysis = stored[index] ?? null;
        return { market: now, stored: analysis === null ? null : analyses.move(analysis, now) };
      });
      return { event, markets: analysed, generatedAt: clock.now() };
    },

    /** @throws AppError `event_not_found` */
    mapProbabilities(slug: string): ProbabilityMap {
      const { event, markets: all } = markets.getEvent(slug);
      const open = listOpenMarkets(all);
      const outcomes = open.map((market) => ({ market, probability: probabilityOf(market) }));
      const known = outcomes.flatMap(({ probability }) => probability ?? []);
      const sum =
        known.length < outcomes.length || known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
      const setGap = findSetGap(event.listing, all, isOpen);
      const isExclusive = event.listing.mutuallyExclusive;
      const isValid = isSumPossible(sum, { isExclusive, isExhaustive: setGap === null });
      return { event, outcomes, sum, isValid, setGap, generatedAt: clock.now() };
    },
  };
}
