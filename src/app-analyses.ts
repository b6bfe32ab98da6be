import type { AppPorts } from "./app-ports.ts";
import type { MarketBoard } from "./board/index.ts";
import { type Analyses, createAnalyses, createMarketViews } from "./capabilities/analyses/index.ts";
import { createMarketFinder } from "./capabilities/markets/index.ts";
import type { EventLog } from "./event-log/index.ts";
import type { Ingest } from "./ingest/index.ts";

/** The analyses: every node requests and reads them, and nodes with the role of a worker run them. */
export function buildAnalyses(
  ports: AppPorts,
  pipeline: { readonly board: MarketBoard; readonly ingest: Ingest; readonly eventLog: EventLog },
): Analyses {
  const { board, ingest } = pipeline;
  const { researchRunner = null, concurrency, limits, hasHouseJob = true } = ports.analyses ?? {};
  return createAnalyses({
    ...ports,
    ...pipeline,
    venues: ports.venues.filter((venue) => !venue.referenceOnly).map(({ id }) => id),
    getMarket: createMarketFinder({
      board,
      clock: ports.clock,
      fetchMarket: (venue, marketId) => ingest.lookUp(venue, marketId),
    }),
    views: createMarketViews(),
    researchRunner,
    concurrency,
    limits,
    hasHouseJob,
    isWorker: ports.node?.maintains !== false,
  });
}
