import type { BoardMarket } from "../board/index.ts";
import type { MarketListing } from "../domain/market.ts";
import { HOUR_MS } from "../lib/durations.ts";
import type { VenueContext } from "./context.ts";

const BATCH_MARKETS_MAX = 100;
const QUEUED_MARKETS_MAX = 50_000;
/**
 * Maximum time before a market's opening or closing at which the market is queued. Sweeps call `schedule` again later,
 * so a market that is not queued now is queued in time.
 */
const SCHEDULED_AHEAD_MS = 6 * HOUR_MS;
/** Maximum time after the opening time during which a market that has not opened is read at short intervals. */
const OPENING_LATE_MS_MAX = 60_000;
/** Minimum interval between reads of a market awaiting its result. The interval grows with time since the close. */
const AWAITING_RESULT_MS_MIN = 15_000;
const AWAITING_RESULT_MS_MAX = HOUR_MS;

export type RefreshQueue = ReturnType<typeof createRefreshQueue>;

/**
 * Creates the queue of markets to read individually: at their opening, after their close, missing from sweeps, or
 * changed according to the stream.
 */
export function createRefreshQueue({ venue, board, clock, health, signal, applyPage }: VenueContext) {
  /** When each market must be read, Unix milliseconds. */
  const dueAtById = new Map<string, number>();
  /**
   * Time of the last status change of each market that awaits its result, Unix milliseconds. It contains only changes
   * that this process received. For other markets the published closing time is used, although trading may end later.
   */
  const changedAtById = new Map<string, number>();

  /** Queues a market to be read at `at` (now by default). A full queue drops the market and counts the drop. */
  const add = (marketId: string, at = clock.now()): void => {
    if (dueAtById.size < QUEUED_MARKETS_MAX || dueAtById.has(marketId)) dueAtById.set(marketId, at);
    else health.drop("refresh_queue_full");
  };

  /**
   * Queues a market for its next individual read, or removes the market if it needs none.
   *
   * @param previous  the market before this update; null if it is new or unchanged
   */
  const schedule = ({ listing }: BoardMarket, previous: BoardMarket | null = null): void => {
    const { marketId, status, openAt, closeAt } = listing;
    const now = clock.now();
    const isOpen = status === "active" || status === "pending";
    const isOpening = status === "pending" && openAt !== null && openAt + OPENING_LATE_MS_MAX > now;
    if (isOpen || status === "finalized") changedAtById.delete(marketId);
    else if (previous !== null && previous.listing.status !== status && changedAtById.size < QUEUED_MARKETS_MAX)
      changedAtById.set(marketId, now);
    const changeAt = isOpening ? openAt : (changedAtById.get(marketId) ?? closeAt);
    const waitedMs = now - (changeAt ?? now);
    const nextReadAt = now + Math.min(AWAITING_RESULT_MS_MAX, Math.max(AWAITING_RESULT_MS_MIN, waitedMs / 10));
    if (status === "finalized") dueAtById.delete(marketId);
    else if (!isOpen) add(marketId, nextReadAt);
    else if (changeAt !== null && changeAt <= now + SCHEDULED_AHEAD_MS) add(marketId, Math.max(changeAt, nextReadAt));
    else dueAtById.delete(marketId);
  };

  const takeDue = (): MarketListing[] => {
    const now = clock.now();
    const listings: MarketListing[] = [];
    for (const [marketId, dueAt] of dueAtById) {
      if (listings.length >= BATCH_MARKETS_MAX) break;
      if (dueAt > now) continue;
      const market = board.find(venue.id, marketId);
      if (market === null) dueAtById.delete(marketId);
      else {
        listings.push(market.listing);
        dueAtById.set(marketId, now + AWAITING_RESULT_MS_MIN);
      }
    }
    return listings;
  };

  return {
    add,
    schedule,
    /** Reads at most one batch of the markets that are due. */
    async refreshDue(): Promise<void> {
      const listings = takeDue();
      if (listings.length === 0) return;
      const page = await venue.getMarkets(listings, signal);
      applyPage(page);
      health.succeeded();
      const returned = new Set(page.markets.map(({ listing }) => listing.marketId));
      // A market that the venue did not return is scheduled again.
      for (const { marketId } of listings) {
        const market = returned.has(marketId) ? null : board.find(venue.id, marketId);
        if (market !== null) schedule(market);
      }
    },
  };
}
