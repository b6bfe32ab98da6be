import type { BoardChange, BoardMarket } from "../board/index.ts";
import { VENUE_CLOCK_AHEAD_MS_MAX, type VenueId } from "../domain/market.ts";
import type { Trade } from "../domain/trade.ts";
import { deleteOldest } from "../lib/delete-oldest.ts";
import { HOUR_MS } from "../lib/durations.ts";
import type { Clock } from "../ports/clock.ts";

/** Maximum age of a reported trade. Older ones were read late, for example of a market that was not polled before. */
const TRADE_AGE_MS_MAX = HOUR_MS;
/** Maximum number of reported trades in memory, to detect repetitions. Venues repeat a trade within minutes. */
const REPORTED_TRADES_MAX = 50_000;
/** Maximum number of markets that await a confirmation of their price. */
const AWAITED_MARKETS_MAX = 10_000;

/**
 * Receives live prices and trades of the venues that this node reads. Ingest calls it synchronously, so it must be
 * fast.
 */
export interface LiveObserver {
  /** Called when this node begins to read the venue. Another node may have read it before. */
  onStart(venue: VenueId): void;
  /**
   * Called when the price of a market changed, or when a price that must be confirmed was received again.
   *
   * @param previous  the market before; null if it is new
   * @param at  time of the price in Unix milliseconds: venue time if known
   * @returns whether the market must be requested again, to confirm the price
   */
  onPrice(market: BoardMarket, previous: BoardMarket | null, at: number): boolean;
  /**
   * Called when a trade was executed, or when more of its fills or its taker became known.
   *
   * @param isRepeated  whether the trade was reported before, without these fills or this taker
   */
  onTrade(market: BoardMarket, trade: Trade, isRepeated: boolean): void;
}

export type LiveFeed = ReturnType<typeof createLiveFeed>;

/**
 * Reports live prices and trades of the venues that this node reads to one observer. Not reported: restored markets,
 * backfilled history, changes made by other nodes, repeated trades, trades from before this node read the venue, and
 * trades that are older than an hour.
 */
export function createLiveFeed(clock: Clock) {
  let observer: LiveObserver | null = null;
  /** When this node began to read each venue, Unix milliseconds. */
  const startedAt = new Map<VenueId, number>();
  /** The last report of each trade, oldest trade first. */
  const lastReports = new Map<string, Pick<Trade, "size" | "taker">>();
  /** Rows of markets whose next price is reported even if it is unchanged, because it confirms the last one. */
  const awaited = new Set<number>();

  return {
    observe(newObserver: LiveObserver): void {
      observer = newObserver;
    },
    /** Called when this node begins to read a venue. */
    start(venue: VenueId): void {
      startedAt.set(venue, clock.now());
      observer?.onStart(venue);
    },
    /**
     * Reports a change of the board.
     *
     * @param at  venue time of the price, Unix milliseconds
     * @returns whether the market must be read again
     */
    reportPrice({ market, previous }: BoardChange, at = market.updatedAt): boolean {
      if (observer === null || market.yesPrice === null) return false;
      const isAwaited = awaited.delete(market.row);
      if (previous?.yesPrice === market.yesPrice && !isAwaited) return false;
      const heldAt = Math.min(clock.now(), Math.max(market.updatedAt, at));
      const mustConfirm = observer.onPrice(market, previous, heldAt);
      if (!mustConfirm || awaited.size >= AWAITED_MARKETS_MAX) return false;
      awaited.add(market.row);
      return true;
    },
    reportTrades(market: BoardMarket, trades: readonly Trade[]): void {
      if (observer === null) return;
      const now = clock.now();
      const { venue, marketId } = market.listing;
      const since = Math.max(startedAt.get(venue) ?? now, now - TRADE_AGE_MS_MAX);
      for (const trade of trades) {
        if (trade.executedAt < since || trade.executedAt > now + VENUE_CLOCK_AHEAD_MS_MAX) continue;
        const key = `${venue}\n${marketId}\n${trade.tradeId}`;
        const last = lastReports.get(key);
        const taker = trade.taker ?? last?.taker;
        if (last !== undefined && trade.size <= last.size && taker === last.taker) continue;
        const reported = taker === undefined ? trade : { ...trade, taker, size: Math.max(trade.size, last?.size ?? 0) };
        lastReports.set(key, { size: reported.size, ...(taker !== undefined && { taker }) });
        deleteOldest(lastReports, REPORTED_TRADES_MAX);
        observer.onTrade(market, reported, last !== undefined);
      }
    },
  };
}
