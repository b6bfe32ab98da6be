import type { BoardMarket, MarketBoard } from "../../../board/index.ts";
import { acceptsOrders, openCloseTime, openResolutionTime } from "../../../domain/close-time.ts";
import type { VenueId } from "../../../domain/market.ts";
import type { OrderBook } from "../../../domain/order-book.ts";
import { EDGE_MIN } from "../../../engine/index.ts";
import type { Clock } from "../../../ports/clock.ts";
import { decideTrade, type SizedTrade, type SizingOptions } from "../../../trading/index.ts";
import type { CurrentEstimate } from "../../analysis/analyses/index.ts";
import { type KnownBook, knownBookOf, quoteBook } from "./known-book.ts";

/** Markets that one call compares at most, those with the largest edges. */
const MARKETS_MAX = 500;
/** Other work can run after this many markets. */
const BATCH_MARKETS = 50;

export interface BestSignalsPorts {
  readonly board: Pick<MarketBoard, "list" | "position">;
  /** Ids of the venues that clients can query. */
  readonly venues: readonly VenueId[];
  /** Our estimate of a market at its price; null if there is none that can be used. */
  readonly estimateOf: (market: BoardMarket) => CurrentEstimate | null;
  /** The order book that is known without a request; null if none is. */
  readonly trackedBookOf: (market: BoardMarket) => OrderBook | null;
  readonly isPlayMoney: (market: BoardMarket) => boolean;
  readonly clock: Pick<Clock, "now" | "yieldToEventLoop">;
}

/** A trade with an edge at this moment. */
export interface BestSignal {
  readonly market: BoardMarket;
  readonly estimate: CurrentEstimate;
  readonly trade: SizedTrade;
  readonly book: Pick<KnownBook, "source" | "at">;
}

/** Finds the best trades of all markets with an estimate. Reads only what is in memory. */
export function createBestSignals(ports: BestSignalsPorts, sizing: SizingOptions) {
  const { board, clock } = ports;

  const decide = (listed: BoardMarket): BestSignal | null => {
    const now = clock.now();
    const book = knownBookOf(listed, ports.trackedBookOf(listed), now);
    if (book === null) return null;
    // The estimate and its edge are those of this book.
    const market = book.source === "book" ? quoteBook(listed, book, now) : listed;
    const estimate = ports.estimateOf(market);
    if (estimate === null) return null;
    const { listing } = market;
    const trade = decideTrade(
      {
        now,
        analysis: estimate,
        market: {
          kind: ports.isPlayMoney(market) ? "play_money" : "money",
          isOpen: acceptsOrders(listing, market.updatedAt, now),
          closeAt: openCloseTime(listing, now),
          resolutionAt: openResolutionTime(listing, now),
          priceRanges: listing.priceRanges,
          takerFee: listing.takerFee,
          minOrderContracts: listing.minOrderContracts,
          contractStep: listing.contractStep,
        },
        book,
      },
      sizing,
    );
    return typeof trade === "string" ? null : { market, estimate, trade, book };
  };

  /**
   * Returns the trades with the largest edges after all costs, largest first.
   *
   * @param edgeMin  in [0, 1]
   * @param limit  at least 1
   */
  return async (edgeMin: number, limit: number): Promise<BestSignal[]> => {
    const markets = board.list({
      venues: ports.venues,
      statuses: ["active"],
      category: null,
      text: null,
      sort: "edge",
      limit: MARKETS_MAX,
      after: null,
    });
    const found: BestSignal[] = [];
    for (const [index, market] of markets.entries()) {
      // Costs only lower an edge, so no later market can have a larger one than this.
      const edgeMax = board.position(market, "edge").value ?? 0;
      const worst = found.length < limit ? 0 : (found.at(-1)?.trade.executableEdge ?? 0);
      if (edgeMax < Math.max(EDGE_MIN, edgeMin, worst)) break;
      const signal = decide(market);
      if (signal !== null && signal.trade.executableEdge >= edgeMin) {
        found.push(signal);
        found.sort((a, b) => b.trade.executableEdge - a.trade.executableEdge);
        found.splice(limit);
      }
      if (index % BATCH_MARKETS === BATCH_MARKETS - 1) await clock.yieldToEventLoop();
    }
    return found;
  };
}
