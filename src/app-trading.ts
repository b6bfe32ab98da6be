import type { FastifyInstance } from "fastify";
import type { AppPorts } from "./app-ports.ts";
import type { MarketBoard } from "./board/index.ts";
import type { MarketsService } from "./capabilities/markets/index.ts";
import {
  createPaperTrades,
  createPortfolioService,
  type PortfolioService,
  portfolioRoutes,
} from "./capabilities/portfolios/index.ts";
import { createShadowBook, createShadowPerformance } from "./capabilities/track-record/index.ts";
import type { VenueId } from "./domain/market.ts";
import type { EventLog } from "./event-log/index.ts";
import type { Ingest } from "./ingest/index.ts";

export type TrackRecord = ReturnType<typeof createTrackRecord>;

/** The shadow book, which nodes that maintain keep up to date, and its performance, which nodes with the API serve. */
export function createTrackRecord(
  ports: AppPorts,
  pipeline: { readonly board: MarketBoard; readonly eventLog: EventLog },
) {
  const book = createShadowBook({ ...ports, ...pipeline });
  const performance = createShadowPerformance(ports);
  return {
    book,
    performance,
    /** Names of the jobs whose last run failed, for health and metrics. */
    get failingJobs(): readonly string[] {
      return [...book.failingJobs, ...performance.failingJobs];
    },
    start(): void {
      if (ports.node?.maintains !== false) book.start();
      if (ports.node?.serves !== false) performance.start();
    },
    async stop(): Promise<void> {
      await Promise.all([book.stop(), performance.stop()]);
    },
  };
}

/** Registers the endpoints of customers' own trades. Returns the service that measures their profit. */
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
