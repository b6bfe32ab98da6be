import type { BoardMarket, MarketBoard } from "../board/index.ts";
import type { VenueId } from "../domain/market.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { ListingPage, VenueAdapter } from "../ports/venue.ts";
import type { ChangeStore, StoredPastPrices } from "../storage/index.ts";
import type { LiveFeed } from "./live-feed.ts";
import type { StoreWriter } from "./store-writer.ts";
import type { VenueHealth } from "./venue-health.ts";

/** How long a list of the most traded markets is reused. Listing them scans the whole board. */
const MOST_TRADED_AGE_MS_MAX = 5_000;

export interface IngestVenue {
  readonly adapter: VenueAdapter;
  readonly health: VenueHealth;
}

/** Dependencies that all parts of ingest share. */
export interface IngestContext {
  readonly venues: ReadonlyMap<VenueId, IngestVenue>;
  readonly board: MarketBoard;
  readonly storeWriter: StoreWriter;
  readonly changes: ChangeStore;
  readonly pastPrices: StoredPastPrices;
  readonly live: LiveFeed;
  /** Finalized markets last updated before this (Unix milliseconds) are not on the board. */
  readonly finalizedSinceMs: () => number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Dependencies that the parts of one venue's ingest share. */
export interface VenueContext
  extends Pick<IngestContext, "board" | "storeWriter" | "pastPrices" | "live" | "clock" | "log"> {
  readonly venue: VenueAdapter;
  readonly health: VenueHealth;
  /** Aborts when this node stops reading the venue. */
  readonly signal: AbortSignal;
  /** Applies a page to the board and queues the changes for the store. */
  readonly applyPage: (page: ListingPage) => void;
}

/** Returns the active markets of the venues with the highest 24-hour volume, highest first. Scans the whole board. */
export function listMostTraded(board: MarketBoard, venues: readonly VenueId[], limit: number): BoardMarket[] {
  return board.list({
    venues,
    statuses: ["active"],
    category: null,
    text: null,
    sort: "volume_24h",
    limit,
    after: null,
  });
}

/**
 * Returns a function that lists the most traded markets, followed by the markets of `listMore`. A list that is not
 * empty is reused for 5 seconds.
 */
export function cacheMostTraded(
  context: VenueContext,
  limit: number,
  listMore: () => readonly BoardMarket[] = () => [],
): () => readonly BoardMarket[] {
  let cachedMarkets: readonly BoardMarket[] = [];
  let cachedAt = 0;
  return () => {
    const now = context.clock.monotonic();
    if (cachedMarkets.length > 0 && now - cachedAt < MOST_TRADED_AGE_MS_MAX) return cachedMarkets;
    cachedMarkets = [...listMostTraded(context.board, [context.venue.id], limit), ...listMore()];
    cachedAt = now;
    return cachedMarkets;
  };
}

/** Number of markets that are applied to the board before yielding to the event loop. */
const SLICE_MARKETS_MAX = 200;

/** Applies a large page to the board in slices. The first slice contains the events. */
export async function applyInSlices({ clock, applyPage }: VenueContext, page: ListingPage): Promise<void> {
  let from = 0;
  do {
    await clock.yieldToEventLoop();
    const markets = page.markets.slice(from, from + SLICE_MARKETS_MAX);
    applyPage({ ...page, events: from === 0 ? page.events : [], markets });
    from += SLICE_MARKETS_MAX;
  } while (from < page.markets.length);
}
