import type { VenueContext } from "./context.ts";

const BATCH_MARKETS_MAX = 100;
const QUEUED_MARKETS_MAX = 20_000;
/** Time in which announcements are collected, so that one request reads all markets of an event. */
const COLLECT_MS = 2_000;
/** A market that the venue does not return yet is read again after this time, which grows with each read. */
const RETRY_MS = 15_000;
const RETRY_FACTOR = 4;
const READS_MAX = 4;

interface Announcement {
  /** Monotonic time at which the market is read. */
  readonly dueAt: number;
  /** Number of reads that did not return the market. */
  readonly reads: number;
}

/** Queue of markets that the stream announced and that are not on the board. */
export class AnnouncedMarkets {
  readonly #context: VenueContext;
  readonly #queue = new Map<string, Announcement>();

  constructor(context: VenueContext) {
    this.#context = context;
  }

  /** Queues a market unless it is on the board. A full queue drops the market and counts the drop. */
  add(marketId: string): void {
    const { venue, board, clock, health } = this.#context;
    if (this.#queue.has(marketId) || board.find(venue.id, marketId) !== null) return;
    if (this.#queue.size >= QUEUED_MARKETS_MAX) health.drop("announced_queue_full");
    else this.#queue.set(marketId, { dueAt: clock.monotonic() + COLLECT_MS, reads: 0 });
  }

  /** Called for every market that is applied to the board, so that a market that was listed meanwhile is not requested. */
  remove(marketId: string): void {
    this.#queue.delete(marketId);
  }

  /** Reads at most one batch. A market that is not returned is read again later, also if the request fails. */
  async readDue(): Promise<void> {
    const { venue, health, signal, applyPage } = this.#context;
    const marketIds = this.#listDue();
    if (marketIds.length === 0) return;
    const listings = marketIds.map((marketId) => ({ marketId, venueKeys: {} }));
    try {
      applyPage(await venue.getMarkets(listings, signal));
      health.succeeded();
    } finally {
      for (const marketId of marketIds) this.#retry(marketId);
    }
  }

  #listDue(): string[] {
    const now = this.#context.clock.monotonic();
    const marketIds: string[] = [];
    for (const [marketId, { dueAt }] of this.#queue) {
      if (marketIds.length >= BATCH_MARKETS_MAX) break;
      if (dueAt <= now) marketIds.push(marketId);
    }
    return marketIds;
  }

  /** Queues a market again unless it was returned. Counts it as unread after `READS_MAX` reads. */
  #retry(marketId: string): void {
    const announcement = this.#queue.get(marketId);
    if (announcement === undefined) return;
    this.#queue.delete(marketId);
    const reads = announcement.reads + 1;
    if (reads >= READS_MAX) this.#context.health.drop("new_market_unread");
    else
      this.#queue.set(marketId, {
        dueAt: this.#context.clock.monotonic() + RETRY_MS * RETRY_FACTOR ** (reads - 1),
        reads,
      });
  }
}
