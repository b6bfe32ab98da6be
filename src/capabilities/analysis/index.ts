/** Analyses of markets and events, research, what-if, and the calibration of the estimates. */
import type { FastifyInstance } from "fastify";
import type { BoardMarket } from "../../board/index.ts";
import type { VenueId } from "../../domain/market.ts";
import { DAY_MS } from "../../lib/durations.ts";
import { readPriceSeries, readRecentTrades } from "../../storage/index.ts";
import { type AreaPorts, type Pipeline, tradingVenuesOf, venueIdsOf } from "../area-ports.ts";
import { readConsensus } from "../markets/consensus/index.ts";
import type { CorrelationService } from "../markets/correlation/index.ts";
import { createMarketFinder, type MarketsService } from "../markets/market-data/index.ts";
import type { Matching } from "../markets/matching/index.ts";
import {
  type Analyses,
  analysisRoutes,
  type CurrentAnalysis,
  createAnalyses,
  createMarketViews,
  type EndedRun,
  type ResearchRunner,
  type VenueTraits,
} from "./analyses/index.ts";
import {
  CALIBRATION_WORKER_URL,
  type CalibrationReport,
  type CalibrationSample,
  type CalibrationService,
  calibrationRoutes,
  createCalibrationService,
} from "./calibration/index.ts";
import { createEventAnalysesService, eventAnalysisRoutes } from "./event-analyses/index.ts";
import { createWhatIfService, whatIfRoutes } from "./what-if/index.ts";

export interface AnalysisPorts extends AreaPorts {
  /** The research runner, by default none, and the maximum number of concurrent runs. */
  readonly analyses?: {
    readonly researchRunner?: ResearchRunner | null;
    readonly concurrency?: number;
    readonly limits?: { readonly waitingMax: number; readonly waitingPerCustomerMax: number };
    /** Whether the service also analyses the most traded markets without a request; true by default. */
    readonly hasScheduledAnalyses?: boolean;
  };
}

/** Maximum number of trades that the engine reads per market, newest first. */
const TRADES_MAX = 1_000;

interface AnalysisSources extends Pipeline {
  /** Null on a node that runs no analyses. */
  readonly matching: Matching | null;
  readonly onRunEnded: (run: EndedRun) => void;
}

/** All nodes accept requests and read results; only nodes with the role `worker` run analyses. */
export function createAnalysisArea(ports: AnalysisPorts, sources: AnalysisSources): Analyses {
  const { board, ingest } = sources;
  const { researchRunner = null, concurrency, limits, hasScheduledAnalyses = true } = ports.analyses ?? {};
  return createAnalyses({
    ...ports,
    ...sources,
    venues: tradingVenuesOf(ports),
    getMarket: createMarketFinder({ board, fetchMarket: ingest.lookUp.bind(ingest) }),
    views: buildMarketViews(ports, sources),
    researchRunner,
    concurrency,
    limits,
    hasScheduledAnalyses,
    isWorker: ports.node?.maintains !== false,
  });
}

function buildMarketViews({ database, venues }: AreaPorts, { board, matching, ingest }: AnalysisSources) {
  const traits = new Map<VenueId, VenueTraits>(
    venues.map(({ id, adapter = null, playMoney }) => [id, { adapter, isPlayMoney: playMoney }]),
  );
  return createMarketViews({
    board,
    traitsOf: (venue) => traits.get(venue) ?? { adapter: null, isPlayMoney: false },
    equalMarketsOf: (market) => matching?.equalMarketsOf(market) ?? [],
    pairsRevision: () => matching?.pairsRevision ?? 0,
    trackedBookOf: async (market) => (await ingest.books.tracked([market.listing]))[0] ?? null,
    async readPrices(marketKey, asOf) {
      const { series } = await readPriceSeries(database, [marketKey], { period: "7d", now: asOf });
      const { times = [], prices = [] } = series[0] ?? {};
      return [...times].map((at, index) => ({ at, yesPrice: prices[index] ?? 0 }));
    },
    async readTrades(marketKey, asOf) {
      const period = { fromMs: asOf - DAY_MS, toMs: asOf, limit: TRADES_MAX };
      const trades = await readRecentTrades(database, marketKey, period);
      return trades.map(({ executedAt: at, yesPrice, size, takerSide }) => ({ at, yesPrice, size, takerSide }));
    },
    readConsensus: (venue, marketId, asOf) => readConsensus(database, { venue, marketId }, asOf),
  });
}

/** Returns the market's latest analysis, even if expired, at its current price; null if there is none. */
export async function readAnalysis({ service }: Analyses, market: BoardMarket): Promise<CurrentAnalysis | null> {
  const stored = await service.latest(market.listing.venue, market.listing.marketId);
  return stored === null ? null : service.move(stored, market);
}

export function registerAnalysisRoutes(
  http: FastifyInstance,
  ports: AreaPorts,
  sources: Pick<Pipeline, "board"> & {
    readonly matching: Pick<Matching, "pairsOf">;
    readonly analyses: Analyses;
    readonly markets: MarketsService;
    readonly correlation: CorrelationService;
    readonly acceptsPayments: boolean;
  },
): CalibrationService {
  const { clock, database, openWorkerPool } = ports;
  const { board, matching, analyses, markets, correlation, acceptsPayments } = sources;
  const venues = venueIdsOf(ports);
  analysisRoutes(http, {
    service: analyses.service,
    venues,
    acceptsPayments,
    getMarket: markets.getListedMarket,
    getHistory: markets.getHistory,
  });
  const whatIf = createWhatIfService({
    board,
    clock,
    venues: venues.trading,
    pairsOf: matching.pairsOf,
    probabilityOf: analyses.probabilityOf,
    correlate: correlation.correlatePair,
  });
  whatIfRoutes(http, whatIf, venues.trading);
  eventAnalysisRoutes(http, createEventAnalysesService({ clock, markets, analyses }), venues.trading);
  const workers = openWorkerPool<CalibrationSample, CalibrationReport>(CALIBRATION_WORKER_URL);
  http.addHook("onClose", () => workers.close());
  const calibration = createCalibrationService({ clock, database, workers });
  calibrationRoutes(http, { service: calibration });
  return calibration;
}
