import type { BoardMarket } from "../board/index.ts";
import type { MarketListing } from "../domain/market.ts";
import { HOUR_MS } from "../lib/durations.ts";
import type { VenueContext } from "./context.ts";

const BATCH_MARKETS_MAX = 100;
const QUEUED_MARKETS_MAX = 50_000;
/**
 * A market whose opening or close is further ahead is not queued; the first sweep within this time before it queues the
 * market.
 */
const SCHEDULED_AHEAD_MS = 6 * HOUR_MS;
/** How long a market is read at short intervals after its opening time while the venue has not opened it. */
const OPENING_LATE_MS_MAX = 60_000;
/** Shortest interval between reads of a market that awaits its result. The interval grows with the wait. */
const AWAITING_RESULT_MS_MIN = 15_000;
const AWAITING_RESULT_MS_MAX = HOUR_MS;

/**
 * Queue of markets to read individually: at their opening, after their close, missing from sweeps, or changed according
 * to the stream.
 */
export class RefreshQueue {
  readonly #context: VenueContext;
  /** When each market must be read, Unix milliseconds. */
  readonly #dueAt = new Map<string, number>();
  /**
   * When the status of a market that awaits its result last changed, Unix milliseconds. Only changes that this process saw;
   * for others the published close time is used, which may be long past when trading ends.
   */
  readonly #changedAt = new Map<string, number>();

  constructor(context: VenueContext) {
    this.#context = context;
  }

  /** Queues a market to be read at `at` (now by default). A full queue drops the market and counts the drop. */
  add(marketId: string, at = this.#context.clock.now()): void {
    if (this.#dueAt.size < QUEUED_MARKETS_MAX || this.#dueAt.has(marketId)) this.#dueAt.set(marketId, at);
    else this.#context.health.drop("refresh_queue_full");
  }

  remove(marketId: string): void {
    this.#dueAt.delete(marketId);
    this.#changedAt.delete(marketId);
  }

  /**
   * Queues a market for its next individual read, or removes the market if it needs none.
   *
   * @param previous  the market before this update; null if it is new or unchanged
   */
  schedule({ listing: { marketId, status, openAt, closeAt } }: BoardMarket, previous: BoardMarket | null = null): void {
    if (status === "finalized") {
      this.remove(marketId);
      return;
    }
    const now = this.#context.clock.now();
    const isOpen = status === "active" || status === "pending";
    const isOpening = status === "pending" && openAt !== null && openAt + OPENING_LATE_MS_MAX > now;
    if (isOpen) this.#changedAt.delete(marketId);
    else if (previous !== null && previous.listing.status !== status && this.#changedAt.size < QUEUED_MARKETS_MAX)
      this.#changedAt.set(marketId, now);
    const changeAt = isOpening ? openAt : (this.#changedAt.get(marketId) ?? closeAt);
    const waitedMs = now - (changeAt ?? now);
    const nextReadAt = now + Math.min(AWAITING_RESULT_MS_MAX, Math.max(AWAITING_RESULT_MS_MIN, waitedMs / 10));
    if (!isOpen) this.add(marketId, nextReadAt);
    else if (changeAt !== null && changeAt <= now + SCHEDULED_AHEAD_MS)
      this.add(marketId, Math.max(changeAt, nextReadAt));
    else this.remove(marketId);
  }

  /** Reads at most one batch of the markets that are due. */
  async refreshDue(): Promise<void> {
    const { venue, board, health, signal, applyPage } = this.#context;
    const listings = this.#takeDue();
    if (listings.length === 0) return;
    const page = await venue.getMarkets(listings, signal);
    applyPage(page);
    health.succeeded();
    const returned = new Set(page.markets.map(({ listing }) => listing.marketId));
    // A market that the venue no longer has is read at the interval for markets that await their result.
    for (const { marketId } of listings) {
      const market = returned.has(marketId) ? null : board.find(venue.id, marketId);
      if (market !== null) this.schedule(market);
    }
  }

  #takeDue(): MarketListing[] {
    const { venue, board, clock } = this.#context;
    const now = clock.now();
    const listings: MarketListing[] = [];
    for (const [marketId, dueAt] of this.#dueAt) {
      if (listings.length >= BATCH_MARKETS_MAX) break;
      if (dueAt > now) continue;
      const market = board.find(venue.id, marketId);
      if (market === null) this.#dueAt.delete(marketId);
      else {
        listings.push(market.listing);
        this.#dueAt.set(marketId, now + AWAITING_RESULT_MS_MIN);
      }
    }
    return listings;
  }
}
