import type { VenueContext } from "./context.ts";

const BATCH_MARKETS_MAX = 100;
const QUEUED_MARKETS_MAX = 20_000;
/** Time in which announcements are collected, so that one request reads all markets of an event. */
const COLLECT_MS = 2_000;
/** Time until a market that the venue did not return is read again. The time grows with each read. */
const RETRY_MS = 15_000;
const RETRY_FACTOR = 4;
const READS_MAX = 4;

interface Announcement {
  /** Monotonic time at which the market is read. */
  readonly dueAt: number;
  /** Number of reads that did not return the market. */
  readonly reads: number;
}

export type AnnouncedMarkets = ReturnType<typeof createAnnouncedMarkets>;

/** Creates the queue of markets that the stream announced and that are not on the board. */
export function createAnnouncedMarkets({ venue, board, clock, health, signal, applyPage }: VenueContext) {
  const queue = new Map<string, Announcement>();

  /** Queues a market again unless it was returned. Counts it as unread after `READS_MAX` reads. */
  const retry = (marketId: string) => {
    const announcement = queue.get(marketId);
    if (announcement === undefined) return;
    queue.delete(marketId);
    const reads = announcement.reads + 1;
    const dueAt = clock.monotonic() + RETRY_MS * RETRY_FACTOR ** (reads - 1);
    if (reads >= READS_MAX) health.drop("new_market_unread");
    else queue.set(marketId, { dueAt, reads });
  };

  return {
    /** Queues a market unless it is on the board. A full queue drops the market and counts the drop. */
    add(marketId: string): void {
      if (queue.has(marketId) || board.find(venue.id, marketId) !== null) return;
      if (queue.size >= QUEUED_MARKETS_MAX) health.drop("announced_queue_full");
      else queue.set(marketId, { dueAt: clock.monotonic() + COLLECT_MS, reads: 0 });
    },
    /** Removes a market from the queue. Called when the market is applied to the board, so that it is not requested. */
    remove: (marketId: string) => queue.delete(marketId),
    /** Reads at most one batch. A market that is not returned is read again later, also if the request fails. */
    async readDue(): Promise<void> {
      const now = clock.monotonic();
      const due = queue.entries().filter(([, { dueAt }]) => dueAt <= now);
      const listings = [...due.take(BATCH_MARKETS_MAX)].map(([marketId]) => ({ marketId, venueKeys: {} }));
      if (listings.length === 0) return;
      try {
        applyPage(await venue.getMarkets(listings, signal));
        health.succeeded();
      } finally {
        for (const { marketId } of listings) retry(marketId);
      }
    },
  };
}
