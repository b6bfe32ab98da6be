import type { FastifyInstance } from "fastify";
import type { BoardMarket } from "../../board/index.ts";
import type { PortfolioSize, PortfolioTask } from "../../trading/index.ts";
import type { Analyses } from "../analysis/analyses/index.ts";
import { type AreaPorts, type Pipeline, venueIdsOf } from "../area-ports.ts";
import type { CorrelationService } from "../markets/correlation/index.ts";
import type { MarketsService } from "../markets/market-data/index.ts";
import type { Matching } from "../markets/matching/index.ts";
import { createRelatedMarkets } from "../markets/relations/index.ts";
import { createPortfolioSignalsService, PORTFOLIO_WORKER, portfolioSignalRoutes } from "./portfolio-signals/index.ts";
import { createPaperTrades, createPortfolioService, portfolioRoutes } from "./portfolios/index.ts";
import { bestSignalRoutes, createBestSignals, SHADOW_SIZING, signalRoutes } from "./signals/index.ts";
import { performanceRoutes } from "./track-record/index.ts";
import type { Trading } from "./trading.ts";

interface StrategySources extends Pick<Pipeline, "board" | "ingest"> {
  readonly matching: Pick<Matching, "pairsOf">;
  readonly analyses: Pick<Analyses, "probabilityOf" | "estimateOf">;
  readonly trading: Trading;
  readonly correlation: Pick<CorrelationService, "correlatePairs">;
  readonly markets: MarketsService;
}

export function registerStrategyRoutes(http: FastifyInstance, ports: AreaPorts, sources: StrategySources): void {
  registerPortfolioRoutes(http, ports, sources);
  registerSignalRoutes(http, ports, sources);
}

function registerPortfolioRoutes(http: FastifyInstance, ports: AreaPorts, sources: StrategySources): void {
  const { clock, database } = ports;
  const { board, ingest, markets, trading } = sources;
  const portfolios = createPortfolioService({ database, board, clock });
  const paperTrades = createPaperTrades({
    database,
    clock,
    getMarket: markets.getListedMarket,
    readBook: (market) => ingest.books.read(market),
  });
  portfolioRoutes(http, portfolios, paperTrades, venueIdsOf(ports).trading);
  performanceRoutes(http, {
    shadow: trading.performance,
    livePerformance: (customerId) => portfolios.livePerformance(customerId),
    now: () => clock.now(),
  });
}

function registerSignalRoutes(http: FastifyInstance, ports: AreaPorts, sources: StrategySources): void {
  const { clock } = ports;
  const { board, ingest, matching, analyses, trading, correlation, markets } = sources;
  const venues = venueIdsOf(ports);
  const workers = ports.openWorkerPool<PortfolioTask, PortfolioSize>(PORTFOLIO_WORKER);
  http.addHook("onClose", () => workers.close());
  const dependencies = {
    board,
    clock,
    venues: venues.trading,
    ...analyses,
    getMarket: markets.getMarket,
    pairsOf: matching.pairsOf,
    correlatePairs: correlation.correlatePairs,
    trackedBooksOf: (markets: readonly BoardMarket[]) => ingest.books.tracked(markets.map(({ listing }) => listing)),
    isPlayMoney: trading.isPlayMoney,
  };
  const relatedMarkets = createRelatedMarkets(dependencies);
  signalRoutes(http, {
    service: trading.signals,
    venues,
    findRelatedMarkets: relatedMarkets.findRelatedMarkets,
    probabilityOf: (market) => analyses.probabilityOf(market) ?? market.yesPrice,
  });
  bestSignalRoutes(http, createBestSignals(dependencies, SHADOW_SIZING), venues.trading);
  const service = createPortfolioSignalsService({ ...dependencies, workers, signals: trading.signals, relatedMarkets });
  portfolioSignalRoutes(http, service, venues);
}
