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
import type { VenueId } from "./domain/market.ts";
import type { Ingest } from "./ingest/index.ts";

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
