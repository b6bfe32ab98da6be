import type { FastifyInstance } from "fastify";
import { registerPortfolioRoutes, registerSignalRoutes } from "./app-portfolios.ts";
import { type AppPorts, tradingVenuesOf } from "./app-ports.ts";
import type { Trading } from "./app-trading.ts";
import type { BoardMarket, MarketBoard } from "./board/index.ts";
import type { BrowserSessions } from "./capabilities/account/index.ts";
import { type Analyses, analysisRoutes, type CurrentAnalysis, presentAnalysis } from "./capabilities/analyses/index.ts";
import { arbitrageRoutes, createArbitrageService } from "./capabilities/arbitrage/index.ts";
import {
  CALIBRATION_WORKER,
  type CalibrationReport,
  type CalibrationService,
  calibrationRoutes,
  createCalibrationService,
  type Sample,
} from "./capabilities/calibration/index.ts";
import { consensusRoutes, createConsensusService } from "./capabilities/consensus/index.ts";
import {
  CORRELATION_WORKER,
  type CorrelationReport,
  type CorrelationService,
  type CorrelationTask,
  correlationRoutes,
  createCorrelationService,
} from "./capabilities/correlation/index.ts";
import { docsRoutes } from "./capabilities/docs/index.ts";
import { createEventAnalysesService, eventAnalysisRoutes } from "./capabilities/event-analyses/index.ts";
import { createExecutionService, executionRoutes } from "./capabilities/execution/index.ts";
import type { HealthReport } from "./capabilities/health/index.ts";
import { createMarketsService, type MarketsService, marketRoutes } from "./capabilities/markets/index.ts";
import type { Matching } from "./capabilities/matching/index.ts";
import { createResolutionService, resolutionRoutes } from "./capabilities/resolution/index.ts";
import { createScreeningService, screeningRoutes } from "./capabilities/screening/index.ts";
import { performanceRoutes } from "./capabilities/track-record/index.ts";
import { websiteRoutes } from "./capabilities/website/index.ts";
import { createWhatIfService, whatIfRoutes } from "./capabilities/what-if/index.ts";
import type { VenueId } from "./domain/market.ts";
import type { Ingest } from "./ingest/index.ts";
import { readMarketWideTrend, readPriceSeries, readQuoteTicks, seriesBarMs } from "./storage/index.ts";

/** Registers the market endpoints, the public pages, which show the same data, and the documentation. */
export function registerMarketRoutes(
  http: FastifyInstance,
  options: {
    readonly ports: AppPorts;
    readonly board: MarketBoard;
    readonly ingest: Ingest;
    readonly matching: Matching;
    readonly analyses: Analyses;
    readonly trading: Trading;
    readonly browserSessions: BrowserSessions;
    readonly health: () => HealthReport;
  },
): void {
  const { ports, board, ingest, matching, analyses, trading, browserSessions, health } = options;
  const { clock, database, publicUrl, data } = ports;
  const venues = { trading: tradingVenuesOf(ports), all: ports.venues.map(({ id }) => id) };
  const service = createMarketsService({
    board,
    clock,
    venues: venues.trading,
    fetchMarket: (venue, marketId) => ingest.lookUp(venue, marketId),
    pastPrices: ingest.pastPrices,
    readTrend: () => readMarketWideTrend(database, clock.now()),
    books: ingest.books,
    trades: ingest.trades,
    factsOf: (listing) => ingest.factsOf(listing),
    matches: matching,
    estimateOf: analyses.estimateOf,
  });
  marketRoutes(http, {
    ...{ service, board, venues, publicUrl, now: () => clock.now() },
    readAnalysis: async (market) => {
      const analysis = await readAnalysis(analyses, market);
      return analysis === null || analysis.freshness === "expired" ? null : presentAnalysis(analysis);
    },
  });
  const resolution = createResolutionService({ board, clock, getMarket: service.getListedMarket });
  resolutionRoutes(http, { service: resolution, venues });
  const screening = createScreeningService({
    board,
    clock,
    estimateOf: analyses.estimateOf,
    findLastHour: (market) => ingest.lastHours.find(market),
  });
  screeningRoutes(http, { service: screening, venues });
  const execution = createExecutionService({
    clock,
    getMarket: service.getMarket,
    readBook: (market) => ingest.books.read(market),
    readQuoteTicks: (marketKey, period) => readQuoteTicks(database, marketKey, period),
    nextKeyDate: resolution.nextKeyDate,
  });
  executionRoutes(http, { service: execution, venues });
  const consensus = createConsensusService({
    ...{ database, board, clock, getMarket: service.getMarket },
    estimateOf: analyses.estimateOf,
  });
  consensusRoutes(http, { service: consensus, venues: venues.trading });
  const portfolios = registerPortfolioRoutes(http, { ...options, markets: service, venues: venues.trading });
  performanceRoutes(http, {
    shadow: trading.performance,
    livePerformance: (customerId) => portfolios.livePerformance(customerId),
    now: () => clock.now(),
  });
  const arbitrage = createArbitrageService({
    ...{ board, clock, pairs: ports.matchedPairs ?? matching, venues: venues.trading },
    readBook: (market) => ingest.books.read(market),
    venueHealth: () => ingest.health(),
  });
  arbitrageRoutes(http, { service: arbitrage, venues });
  analysisRoutes(http, {
    service: analyses.service,
    venues,
    acceptsPayments: ports.payments !== undefined,
    getMarket: service.getListedMarket,
    getHistory: service.getHistory,
  });
  const correlation = registerCorrelationRoutes(http, { ...options, markets: service, venues: venues.trading });
  registerSignalRoutes(http, { ...options, correlation, markets: service, venues });
  const whatIf = createWhatIfService({
    ...{ board, clock, venues: venues.trading, pairsOf: matching.pairsOf },
    probabilityOf: analyses.probabilityOf,
    correlate: correlation.correlatePair,
  });
  whatIfRoutes(http, { service: whatIf, venues: venues.trading });
  const eventAnalyses = createEventAnalysesService({
    ...{ clock, markets: service, analyses: analyses.service },
    probabilityOf: analyses.probabilityOf,
  });
  eventAnalysisRoutes(http, { service: eventAnalyses, venues: venues.trading });
  const calibration = registerCalibrationRoutes(http, ports);
  websiteRoutes(http, {
    service,
    board,
    clock,
    venues: venues.trading,
    health,
    publicUrl,
    data,
    demoKey: ports.demoKey ?? null,
    upgradeUrl: ports.account.upgradeUrl ?? null,
    acceptsPayments: ports.payments !== undefined,
    referenceVenues: venues.all.filter((id) => !venues.trading.includes(id)),
    random: ports.random,
    analyses: analyses.service,
    browserSessions,
    // The page says that an analysis has expired, and does not show its estimate.
    readAnalysis: (market) => readAnalysis(analyses, market),
    readCalibration: () => calibration.getCalibration({ mode: "shadow", period: "all", category: null }),
    readPerformance: async () => (await trading.performance.read()).report,
  });
  docsRoutes(http, { data, publicUrl, venues, board, demoKey: ports.demoKey ?? null });
}

/** Returns the latest analysis of a market at the price of `market`, also if it has expired; null if there is none. */
async function readAnalysis({ service }: Analyses, market: BoardMarket): Promise<CurrentAnalysis | null> {
  const stored = await service.latest(market.listing.venue, market.listing.marketId);
  return stored === null ? null : service.move(stored, market);
}

function registerCorrelationRoutes(
  http: FastifyInstance,
  options: {
    readonly ports: Pick<AppPorts, "clock" | "database" | "openWorkerPool">;
    readonly board: MarketBoard;
    readonly ingest: Ingest;
    readonly markets: MarketsService;
    readonly matching: Pick<Matching, "pairsOf">;
    readonly venues: readonly VenueId[];
  },
): CorrelationService {
  const { ports, board, ingest, markets, matching, venues } = options;
  const { clock, database } = ports;
  const workers = ports.openWorkerPool<CorrelationTask, CorrelationReport>(CORRELATION_WORKER);
  http.addHook("onClose", () => workers.close());
  const service = createCorrelationService({
    ...{ board, clock, venues, markets, workers },
    pairsOf: matching.pairsOf,
    fetchMissingHistory: (missing, { period, timeoutMs }) =>
      ingest.pastPrices.fetchMissing(missing, { intervalMsMin: seriesBarMs(period), timeoutMs }),
    readPriceSeries: (keys, range) => readPriceSeries(database, keys, range),
  });
  correlationRoutes(http, { service, venues });
  return service;
}

function registerCalibrationRoutes(
  http: FastifyInstance,
  { clock, database, openWorkerPool }: Pick<AppPorts, "clock" | "database" | "openWorkerPool">,
): CalibrationService {
  const workers = openWorkerPool<Sample, CalibrationReport>(CALIBRATION_WORKER);
  http.addHook("onClose", () => workers.close());
  const service = createCalibrationService({ clock, database, workers });
  calibrationRoutes(http, { service });
  return service;
}
