import type { BoardMarket, MarketBoard } from "../board/index.ts";
import type { VenueId } from "../domain/market.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { ListingPage, VenueAdapter } from "../ports/venue.ts";
import type { ChangeStore, StoredPastPrices } from "../storage/index.ts";
import type { StoreWriter } from "./store-writer.ts";
import type { VenueHealth } from "./venue-health.ts";

/** Listing the most traded markets scans the whole board, so a list is reused for this long. */
const LIST_AGE_MS_MAX = 5_000;

export interface IngestVenue {
  readonly adapter: VenueAdapter;
  readonly health: VenueHealth;
}

/** Shared by all parts of ingest. */
export interface IngestContext {
  readonly venues: ReadonlyMap<VenueId, IngestVenue>;
  readonly board: MarketBoard;
  readonly storeWriter: StoreWriter;
  readonly changes: ChangeStore;
  readonly pastPrices: StoredPastPrices;
  /** Finalized markets last updated before this (Unix milliseconds) are not on the board. */
  readonly finalizedSinceMs: () => number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Shared by the parts of one venue's ingest. */
export interface VenueContext extends Pick<IngestContext, "board" | "storeWriter" | "pastPrices" | "clock" | "log"> {
  readonly venue: VenueAdapter;
  readonly health: VenueHealth;
  /** Aborts when this node stops reading the venue. */
  readonly signal: AbortSignal;
  /** Applies a page to the board and queues the changes for the store. */
  readonly absorb: (page: ListingPage) => void;
}

/** A venue's active markets with the highest 24-hour volume, highest first. Scans the whole board. */
export function listMostTraded({ board, venue }: VenueContext, limit: number): BoardMarket[] {
  return board.list({
    venues: [venue.id],
    statuses: ["active"],
    category: null,
    text: null,
    sort: "volume_24h",
    limit,
    after: null,
  });
}

/** Returns a function that lists the most traded markets; a list with markets is reused for 5 seconds. */
export function cacheMostTraded(context: VenueContext, limit: number): () => readonly BoardMarket[] {
  let listed: readonly BoardMarket[] = [];
  let listedAt = 0;
  return () => {
    const now = context.clock.monotonic();
    if (listed.length > 0 && now - listedAt < LIST_AGE_MS_MAX) return listed;
    listed = listMostTraded(context, limit);
    listedAt = now;
    return listed;
  };
}
