import type { AppPorts } from "./app-ports.ts";
import type { MarketBoard } from "./board/index.ts";
import type { Analyses } from "./capabilities/analyses/index.ts";
import { createMarketFinder } from "./capabilities/markets/index.ts";
import { createSignalsService, type SignalsService } from "./capabilities/signals/index.ts";
import type { Ingest } from "./ingest/index.ts";
import type { ShadowEntry } from "./trading/index.ts";

/** Signals of customers, and those of the service itself: each analysis that this node completes is signalled. */
export function buildSignals(
  { clock, venues }: AppPorts,
  options: {
    readonly board: MarketBoard;
    readonly ingest: Ingest;
    readonly analyses: Analyses;
    readonly enterShadowTrade: (entry: ShadowEntry) => Promise<unknown>;
  },
): SignalsService {
  const { board, ingest, analyses, enterShadowTrade } = options;
  const playMoney = new Set(venues.filter(({ referenceOnly }) => referenceOnly).map(({ id }) => id));
  const service = createSignalsService({
    ...{ board, clock, enterShadowTrade, analyses: analyses.service },
    venues: venues.filter(({ referenceOnly }) => !referenceOnly).map(({ id }) => id),
    getMarket: createMarketFinder({
      ...{ board, clock },
      fetchMarket: (venue, marketId) => ingest.lookUp(venue, marketId),
    }),
    readBook: (market) => ingest.books.read(market),
    isPlayMoney: ({ listing }) => playMoney.has(listing.venue),
    describeHedge: async () => null,
  });
  analyses.observeCompletions(service.record);
  return service;
}
