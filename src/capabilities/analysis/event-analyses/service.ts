import { type BoardMarket, findIncompleteSetReason } from "../../../board/index.ts";
import { AppError } from "../../../domain/errors.ts";
import { sumOf } from "../../../lib/numbers.ts";
import type { AreaPorts } from "../../area-ports.ts";
import type { MarketsService } from "../../markets/market-data/index.ts";
import type { Analyses } from "../analyses/index.ts";
import { EVENT_ANALYSIS_MARKETS_MAX, isOpenAndPriced, isSumConsistent, listOpenMarkets } from "./model.ts";

interface EventAnalysesPorts extends Pick<AreaPorts, "clock"> {
  readonly markets: Pick<MarketsService, "getEvent">;
  readonly analyses: Pick<Analyses, "service" | "probabilityOf">;
}

export type EventAnalysesService = ReturnType<typeof createEventAnalysesService>;

/** Analyses the markets of an event and compares their estimates. */
export function createEventAnalysesService({ clock, markets, analyses }: EventAnalysesPorts) {
  const { service, probabilityOf } = analyses;
  return {
    /**
     * Starts analyses of the event's open markets, at most 20. They use market data only: research of each outcome
     * would cost a multiple of one analysis.
     *
     * @returns  one run per market, and the estimated seconds until all have ended
     * @throws AppError `event_not_found`, `analysis_not_found` if no market is open, `overloaded`, `rate_limited`,
     *   `store_unavailable`
     */
    async analyse(slug: string, customerId: string) {
      const open = listOpenMarkets(markets.getEvent(slug).markets).slice(0, EVENT_ANALYSIS_MARKETS_MAX);
      if (open.length === 0) throw new AppError("analysis_not_found", "No market of this event is open");
      const runs: { readonly market: BoardMarket; readonly analysisId: string }[] = [];
      let estimatedSeconds = 1;
      for (const market of open) {
        const started = await service.analyseLightly(market, customerId);
        runs.push({ market, analysisId: started.analysisId });
        estimatedSeconds = Math.max(estimatedSeconds, started.estimatedSeconds);
      }
      return { runs, estimatedSeconds };
    },

    /** @throws AppError `event_not_found`, `analysis_not_found` if no market was analysed, `store_unavailable` */
    async read(slug: string) {
      const listed = listOpenMarkets(markets.getEvent(slug).markets).slice(0, EVENT_ANALYSIS_MARKETS_MAX);
      const stored = await Promise.all(
        listed.map(({ listing: { venue, marketId } }) => service.latest(venue, marketId)),
      );
      if (stored.every((each) => each === null))
        throw new AppError("analysis_not_found", "No market of this event has been analysed yet");
      // Prices may have changed during the reads, and all figures must refer to the same time.
      const { event, markets: all } = markets.getEvent(slug);
      const current = new Map(all.map((market) => [market.row, market]));
      const analysed = listed.map((market, index) => {
        const now = current.get(market.row) ?? market;
        const analysis = stored[index] ?? null;
        return { market: now, stored: analysis === null ? null : service.move(analysis, now) };
      });
      return { event, markets: analysed, generatedAt: clock.now() };
    },

    /** @throws AppError `event_not_found` */
    mapProbabilities(slug: string) {
      const { event, markets: all } = markets.getEvent(slug);
      const open = listOpenMarkets(all);
      const outcomes = open.map((market) => ({ market, probability: probabilityOf(market) }));
      const known = outcomes.flatMap(({ probability }) => probability ?? []);
      // Null if an outcome has no estimate.
      const sum = known.length < outcomes.length || known.length === 0 ? null : sumOf(known);
      const setGap = findIncompleteSetReason(event.listing, all, isOpenAndPriced);
      const isExclusive = event.listing.mutuallyExclusive;
      const isValid = isSumConsistent(sum, { isExclusive, isExhaustive: setGap === null });
      return { event, outcomes, sum, isValid, setGap, generatedAt: clock.now() };
    },
  };
}
