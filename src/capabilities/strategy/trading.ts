import type { BoardMarket } from "../../board/index.ts";
import type { Analyses } from "../analysis/analyses/index.ts";
import { type AreaPorts, type Pipeline, tradingVenuesOf } from "../area-ports.ts";
import { createMarketFinder } from "../markets/market-data/index.ts";
import type { Matching } from "../markets/matching/index.ts";
import { createQuestionLinker } from "../markets/questions/index.ts";
import { createEdgeOrder, createSignalsService, type SignalObserver } from "./signals/index.ts";
import { createShadowBook, createShadowPerformance } from "./track-record/index.ts";

export type Trading = ReturnType<typeof createTrading>;

/**
 * Creates the signals and their track record. Each node records a signal for every analysis that it completes. Nodes
 * that run maintenance update the shadow book; nodes with the API serve its performance.
 */
export function createTrading(
  ports: AreaPorts,
  pipeline: Pipeline & {
    readonly analyses: Analyses;
    /** Null on a node that does not match markets. */
    readonly matching: Matching | null;
    readonly onSignal: SignalObserver;
  },
) {
  const { clock, venues } = ports;
  const { board, ingest, analyses, matching } = pipeline;
  const book = createShadowBook({ ...ports, ...pipeline });
  const performance = createShadowPerformance(ports);
  const linker = matching === null ? null : createQuestionLinker({ ...ports, board, matching });
  const playMoneyVenues = new Set(venues.filter(({ playMoney }) => playMoney).map(({ id }) => id));
  const isPlayMoney = ({ listing }: BoardMarket) => playMoneyVenues.has(listing.venue);
  const signals = createSignalsService({
    board,
    clock,
    analyses: analyses.service,
    venues: tradingVenuesOf(ports),
    pairsOf: (venue, marketId) => matching?.pairsOf(venue, marketId) ?? [],
    getMarket: createMarketFinder({
      board,
      fetchMarket: (venue, marketId) => ingest.lookUp(venue, marketId),
    }),
    readBook: (market) => ingest.books.read(market),
    isPlayMoney,
    enterShadowTrade: (entry) => book.enter(entry),
    onSignal: pipeline.onSignal,
  });
  analyses.observeCompletions(signals.record);
  const edgeOrder = createEdgeOrder({
    board,
    estimates: analyses.latest,
    probabilityOf: analyses.probabilityOf,
    clock,
    log: ports.log,
  });
  return {
    book,
    performance,
    signals,
    isPlayMoney,
    /** Names of the jobs whose last run failed, for health and metrics. */
    get failingJobs(): readonly string[] {
      return [book, performance, edgeOrder, linker].flatMap((jobs) => jobs?.failingJobs ?? []);
    },
    start(): void {
      if (ports.node?.maintains !== false) book.start();
      if (ports.node?.serves !== false) {
        performance.start();
        edgeOrder.start();
      }
      linker?.start();
    },
    async stop(): Promise<void> {
      signals.stop();
      await Promise.all([book.stop(), performance.stop(), edgeOrder.stop(), linker?.stop()]);
    },
  };
}
