import { type AppPorts, tradingVenuesOf } from "./app-ports.ts";
import type { MarketBoard } from "./board/index.ts";
import {
  type Analyses,
  createAnalyses,
  createMarketViews,
  type EndedRun,
  type VenueTraits,
} from "./capabilities/analyses/index.ts";
import { readConsensus } from "./capabilities/consensus/index.ts";
import { createMarketFinder } from "./capabilities/markets/index.ts";
import type { Matching } from "./capabilities/matching/index.ts";
import type { VenueId } from "./domain/market.ts";
import type { EventLog } from "./event-log/index.ts";
import type { Ingest } from "./ingest/index.ts";
import { readPriceSeries, readRecentTrades } from "./storage/index.ts";

const DAY_MS = 86_400_000;
/** Newest trades that the engine reads of a market. */
const TRADES_MAX = 1_000;

interface Pipeline {
  readonly board: MarketBoard;
  readonly ingest: Ingest;
  readonly eventLog: EventLog;
  /** Null on a node that runs no analyses. */
  readonly matching: Matching | null;
  readonly onRunEnded: (run: EndedRun) => void;
}

/** The analyses: every node requests and reads them, and nodes with the role of a worker run them. */
export function buildAnalyses(ports: AppPorts, pipeline: Pipeline): Analyses {
  const { board, ingest } = pipeline;
  const { researchRunner = null, concurrency, limits, hasHouseJob = true } = ports.analyses ?? {};
  return createAnalyses({
    ...ports,
    ...pipeline,
    venues: tradingVenuesOf(ports),
    getMarket: createMarketFinder({
      board,
      fetchMarket: (venue, marketId) => ingest.lookUp(venue, marketId),
    }),
    views: buildMarketViews(ports, pipeline),
    researchRunner,
    concurrency,
    limits,
    hasHouseJob,
    isWorker: ports.node?.maintains !== false,
  });
}

function buildMarketViews({ database, venues }: AppPorts, { board, matching, ingest }: Pipeline) {
  const traits = new Map<VenueId, VenueTraits>(
    venues.map(({ id, adapter = null, playMoney }) => [id, { adapter, isPlayMoney: playMoney }]),
  );
  return createMarketViews({
    board,
    traitsOf: (venue) => traits.get(venue) ?? { adapter: null, isPlayMoney: false },
    equalMarketsOf: (market) => matching?.equalMarketsOf(market) ?? [],
    trackedBookOf: (market) => ingest.books.tracked(market),
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
