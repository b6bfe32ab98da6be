import type { FastifyInstance } from "fastify";
import type { AppPorts } from "./app-ports.ts";
import type { Trading } from "./app-trading.ts";
import type { MarketBoard } from "./board/index.ts";
import type { Analyses } from "./capabilities/analyses/index.ts";
import type { CorrelationService } from "./capabilities/correlation/index.ts";
import { createTiedMarkets } from "./capabilities/dependence/index.ts";
import type { MarketsService } from "./capabilities/markets/index.ts";
import type { Matching } from "./capabilities/matching/index.ts";
import {
  createPortfolioSignalsService,
  PORTFOLIO_WORKER,
  portfolioSignalRoutes,
} from "./capabilities/portfolio-signals/index.ts";
import {
  createPaperTrades,
  createPortfolioService,
  type PortfolioService,
  portfolioRoutes,
} from "./capabilities/portfolios/index.ts";
import { bestSignalRoutes, createBestSignals, SHADOW_SIZING, signalRoutes } from "./capabilities/signals/index.ts";
import type { VenueId } from "./domain/market.ts";
import type { VenueIds } from "./http/schema-types.ts";
import type { Ingest } from "./ingest/index.ts";
import type { PortfolioSize, PortfolioTask } from "./trading/index.ts";

/** Registers the routes of customers' own trades. Returns the service that computes their profit. */
export function registerPortfolioRoutes(
  http: FastifyInstance,
  options: {
    readonly ports: Pick<AppPorts, "clock" | "database">;
    readonly board: MarketBoard;
    readonly ingest: Pick<Ingest, "books">;
    readonly markets: MarketsService;
    readonly venues: readonly VenueId[];
  },
): PortfolioService {
  const { ports, board, ingest, markets, venues } = options;
  const { clock, database } = ports;
  const service = createPortfolioService({ database, board, clock });
  const paperTrades = createPaperTrades({
    ...{ database, clock, getMarket: markets.getListedMarket },
    readBook: (market) => ingest.books.read(market),
  });
  portfolioRoutes(http, { service, paperTrades, venues });
  return service;
}

/** Registers the routes of signals and of portfolio signals. */
export function registerSignalRoutes(
  http: FastifyInstance,
  options: {
    readonly ports: Pick<AppPorts, "clock" | "openWorkerPool">;
    readonly board: MarketBoard;
    readonly ingest: Pick<Ingest, "books">;
    readonly matching: Pick<Matching, "pairsOf">;
    readonly analyses: Pick<Analyses, "probabilityOf" | "estimateOf">;
    readonly trading: Pick<Trading, "signals" | "isPlayMoney">;
    readonly correlation: Pick<CorrelationService, "correlatePairs">;
    readonly markets: Pick<MarketsService, "getMarket">;
    readonly venues: VenueIds;
  },
): void {
  const { ports, board, ingest, matching, analyses, trading, correlation, markets, venues } = options;
  const workers = ports.openWorkerPool<PortfolioTask, PortfolioSize>(PORTFOLIO_WORKER);
  http.addHook("onClose", () => workers.close());
  const { pairsOf } = matching;
  const { correlatePairs } = correlation;
  const tiedMarkets = createTiedMarkets({
    ...{ board, pairsOf, correlatePairs, clock: ports.clock },
    venues: venues.trading,
  });
  signalRoutes(http, {
    ...{ service: trading.signals, venues, findTiedMarkets: tiedMarkets.findTiedMarkets },
    probabilityOf: (market) => analyses.probabilityOf(market) ?? market.yesPrice,
  });
  const findBest = createBestSignals(
    {
      board,
      venues: venues.trading,
      estimateOf: analyses.estimateOf,
      trackedBookOf: (market) => ingest.books.tracked(market),
      isPlayMoney: trading.isPlayMoney,
      clock: ports.clock,
    },
    SHADOW_SIZING,
  );
  bestSignalRoutes(http, { venues, findBest });
  const service = createPortfolioSignalsService({
    ...{ board, workers, pairsOf, correlatePairs, signals: trading.signals, getMarket: markets.getMarket },
    tiedMarkets,
    probabilityOf: analyses.probabilityOf,
    trackedBookOf: (market) => ingest.books.tracked(market),
    clock: ports.clock,
  });
  portfolioSignalRoutes(http, { service, venues, now: () => ports.clock.now() });
}
