/** Markets, their rules, screens, execution guidance, arbitrage, correlation, and consensus from reported trades. */
import type { FastifyInstance } from "fastify";
import type { BoardMarket } from "../../board/index.ts";
import { readMarketWideTrend, readPriceSeries, readQuoteTicks, seriesBarMs } from "../../storage/index.ts";
import { type AreaPorts, type Pipeline, venueIdsOf } from "../area-ports.ts";
import { arbitrageRoutes, createArbitrageService } from "./arbitrage/index.ts";
import { consensusRoutes, createConsensusService } from "./consensus/index.ts";
import {
  CORRELATION_WORKER,
  type CorrelationReport,
  type CorrelationService,
  type CorrelationTask,
  correlationRoutes,
  createCorrelationService,
} from "./correlation/index.ts";
import { createExecutionService, executionRoutes } from "./execution/index.ts";
import { createMarketsService, type MarketsService, marketRoutes } from "./market-data/index.ts";
import type { MatchedPairs, Matching } from "./matching/index.ts";
import type { MarketEstimate } from "./ports.ts";
import { createResolutionService, resolutionRoutes } from "./resolution/index.ts";
import { createScreeningService, screeningRoutes } from "./screening/index.ts";

export interface MarketsPorts extends AreaPorts {
  /** Pairs of markets that ask the same question; by default the pairs from matching. */
  readonly matchedPairs?: MatchedPairs;
}

interface MarketsSources extends Pick<Pipeline, "board" | "ingest"> {
  readonly matching: Matching;
  /** Our estimate for a market at its current price; null if there is none. */
  readonly estimateOf: Parameters<typeof createScreeningService>[0]["estimateOf"];
  /** Probability and time of `estimateOf`, cached, because it is called for each market of a list. */
  readonly shownEstimateOf: (market: BoardMarket) => MarketEstimate | null;
  /** Returns the API object of a market's latest unexpired analysis; null if there is none. */
  readonly presentAnalysisOf: (market: BoardMarket) => Promise<Record<string, unknown> | null>;
}

/** Registers the market routes. Returns the services that other areas use. */
export function registerMarketRoutes(
  http: FastifyInstance,
  ports: MarketsPorts,
  sources: MarketsSources,
): { markets: MarketsService; correlation: CorrelationService } {
  const { clock, database, publicUrl } = ports;
  const { board, ingest, matching, estimateOf, shownEstimateOf, presentAnalysisOf } = sources;
  const venues = venueIdsOf(ports);
  const markets = createMarketsService({
    board,
    clock,
    venues: venues.trading,
    fetchMarket: (venue, marketId) => ingest.lookUp(venue, marketId),
    pastPrices: ingest.pastPrices,
    readTrend: () => readMarketWideTrend(database, clock.now()),
    books: ingest.books,
    trades: ingest.trades,
    detailsOf: (listing) => ingest.detailsOf(listing),
    matches: matching,
    estimateOf: shownEstimateOf,
  });
  marketRoutes(http, {
    service: markets,
    board,
    venues,
    publicUrl,
    now: () => clock.now(),
    readAnalysis: presentAnalysisOf,
  });
  const dependencies = {
    database,
    board,
    clock,
    estimateOf,
    venues: venues.trading,
    pairsOf: matching.pairsOf,
    getMarket: markets.getMarket,
    readBook: (market: BoardMarket) => ingest.books.read(market),
  };
  const resolution = createResolutionService({ board, clock, getMarket: markets.getListedMarket });
  resolutionRoutes(http, resolution, venues);
  const findLastHour = (market: BoardMarket) => ingest.lastHours.find(market);
  screeningRoutes(http, createScreeningService({ ...dependencies, findLastHour }), venues);
  const execution = createExecutionService({
    ...dependencies,
    readQuoteTicks: (marketKey, period) => readQuoteTicks(database, marketKey, period),
    nextKeyDate: resolution.nextKeyDate,
  });
  executionRoutes(http, execution, venues);
  consensusRoutes(http, createConsensusService(dependencies), venues.trading);
  const pairs = ports.matchedPairs ?? matching;
  const arbitrage = createArbitrageService({ ...dependencies, pairs, venueHealth: () => ingest.health() });
  arbitrageRoutes(http, arbitrage, venues);
  const workers = ports.openWorkerPool<CorrelationTask, CorrelationReport>(CORRELATION_WORKER);
  http.addHook("onClose", () => workers.close());
  const correlation = createCorrelationService({
    ...dependencies,
    markets,
    workers,
    fetchMissingHistory: (missing, { period, timeoutMs }) =>
      ingest.pastPrices.fetchMissing(missing, { intervalMsMin: seriesBarMs(period), timeoutMs }),
    readPriceSeries: (keys, range) => readPriceSeries(database, keys, range),
  });
  correlationRoutes(http, correlation, venues.trading);
  return { markets, correlation };
}
