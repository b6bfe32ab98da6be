import type { BoardMarket } from "../../board/index.ts";
import type { VenueId } from "../../domain/market.ts";
import type { OrderBook } from "../../domain/order-book.ts";
import type { MarketPair } from "../../matching/index.ts";
import type { PairCorrelation } from "../../quant/correlation.ts";
import type { AreaPorts, Pipeline } from "../area-ports.ts";

/** Our estimate of the probability of YES, in [0, 1], and its time in Unix milliseconds. */
export interface MarketEstimate {
  readonly probability: number;
  readonly at: number;
}

/** Dependencies of the market and signal services. Each service uses a subset. */
export interface MarketDependencies extends Pick<AreaPorts, "database" | "clock" | "log">, Pick<Pipeline, "board"> {
  /** Ids of the venues that clients can query. */
  readonly venues: readonly VenueId[];
  /** Returns a market, or fetches it from its venue. Throws AppError `market_not_found`; VenueError. */
  readonly getMarket: (venue: VenueId, marketId: string) => Promise<BoardMarket>;
  /** Returns the current order book, or null if the market has none. Throws VenueError. */
  readonly readBook: (market: BoardMarket) => Promise<OrderBook | null>;
  /** Returns the order books in memory, without a request to a venue; null for a market without one. */
  readonly trackedBooksOf: (markets: readonly BoardMarket[]) => Promise<readonly (OrderBook | null)[]>;
  readonly pairsOf: (venue: VenueId, marketId: string) => readonly MarketPair[];
  /** Correlations of the log-odds moves of all pairs of markets. Waits at most half a second for missing history. */
  readonly correlatePairs: (markets: readonly BoardMarket[]) => Promise<readonly PairCorrelation[]>;
  /** Our estimate of a market at its current price; null if there is none. */
  readonly estimateOf: (market: BoardMarket) => MarketEstimate | null;
  /** Our estimate of the probability of YES at the current price; null if there is none. */
  readonly probabilityOf: (market: BoardMarket) => number | null;
  readonly isPlayMoney: (market: BoardMarket) => boolean;
}
