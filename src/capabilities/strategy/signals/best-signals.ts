import type { BoardMarket } from "../../../board/index.ts";
import type { OrderBook } from "../../../domain/order-book.ts";
import { EDGE_MIN } from "../../../engine/index.ts";
import { chunksOf } from "../../../lib/chunks.ts";
import { toIso } from "../../../lib/dates/iso-time.ts";
import { decideTrade, type SizingOptions } from "../../../trading/index.ts";
import type { CurrentEstimate } from "../../analysis/analyses/index.ts";
import type { MarketDependencies } from "../../markets/ports.ts";
import type { BestSignal } from "./best-routes.ts";
import { knownBookOf, quoteBook, toTradedMarket } from "./known-book.ts";

/** Maximum number of markets that a call compares, largest edges first. */
const MARKETS_MAX = 500;
/** Number of markets after which the call yields to the event loop. */
const BATCH_MARKETS = 50;

export interface BestSignalsDependencies
  extends Pick<MarketDependencies, "board" | "clock" | "venues" | "trackedBooksOf" | "isPlayMoney"> {
  /** Our estimate for a market at its current price; null if there is none. */
  readonly estimateOf: (market: BoardMarket) => CurrentEstimate | null;
}

/** Finds the best trades in all markets with an estimate, from data in memory. */
export function createBestSignals(ports: BestSignalsDependencies, sizing: SizingOptions) {
  const { board, clock } = ports;

  const decide = (listed: BoardMarket, tracked: OrderBook | null): BestSignal | null => {
    const now = clock.now();
    const book = knownBookOf(listed, tracked, now);
    if (book === null) return null;
    // The estimate and its edge are computed at the prices of this order book.
    const market = book.source === "book" ? quoteBook(listed, book, now) : listed;
    const estimate = ports.estimateOf(market);
    if (estimate === null) return null;
    const trade = decideTrade(
      {
        now,
        analysis: estimate,
        market: toTradedMarket(market, ports.isPlayMoney(market), now),
        book,
      },
      sizing,
    );
    if (typeof trade === "string") return null;
    const { candidate, fill } = trade;
    return {
      platform: market.listing.venue,
      market_id: market.listing.marketId,
      title: market.listing.title,
      recommendation: candidate.side === "yes" ? "BUY_YES" : "BUY_NO",
      target_price: candidate.targetPrice,
      edge: estimate.edge,
      executable_edge: trade.executableEdge,
      model_probability: estimate.probability,
      model_probability_at: toIso(estimate.at),
      yes_price: estimate.yesPrice,
      confidence: estimate.confidence,
      size_pct: trade.sizePct,
      size_usd: fill.costUsd,
      contracts: fill.contracts,
      average_cost: fill.costUsd / fill.contracts,
      capped_by: trade.cappedBy,
      price_source: book.source,
      priced_at: toIso(book.at),
      freshness: estimate.freshness,
      analyzed_at: toIso(estimate.analysedAt),
    };
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
    for (const batch of chunksOf(markets, BATCH_MARKETS)) {
      await clock.yieldToEventLoop();
      const books = await ports.trackedBooksOf(batch);
      for (const [index, market] of batch.entries()) {
        // Costs only lower an edge, so no later market can have a larger executable edge.
        const edgeMax = board.position(market, "edge").value ?? 0;
        const worst = found.length < limit ? 0 : (found.at(-1)?.executable_edge ?? 0);
        if (edgeMax < Math.max(EDGE_MIN, edgeMin, worst)) return found;
        const signal = decide(market, books[index] ?? null);
        if (signal === null || signal.executable_edge < edgeMin) continue;
        found.push(signal);
        found.sort((a, b) => b.executable_edge - a.executable_edge);
        found.splice(limit);
      }
    }
    return found;
  };
}
