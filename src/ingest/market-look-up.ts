import type { MarketBoard } from "../board/index.ts";
import { VenueError } from "../domain/errors.ts";
import type { VenueId } from "../domain/market.ts";
import type { ListingPage } from "../ports/venue.ts";
import type { StoreWriter } from "./store-writer.ts";
import type { IngestVenue, VenueReaders } from "./venue-readers.ts";

const LOOK_UP_MS_MAX = 4_000;
/** Simultaneous look-ups per venue. Requests for unknown ids must not use up the budget that ingest needs. */
const LOOK_UPS_MAX = 4;

/** Requests a market that the board does not have from its venue; false if the venue does not have it either. */
export function createMarketLookUp(options: {
  readonly venues: ReadonlyMap<VenueId, IngestVenue>;
  readonly readers: VenueReaders;
  readonly board: MarketBoard;
  readonly storeWriter: StoreWriter;
}): (venue: VenueId, marketId: string) => Promise<boolean> {
  const { venues, readers, board, storeWriter } = options;
  const inFlight = new Map<VenueId, number>();

  const absorb = (venue: VenueId, page: ListingPage): void => {
    const reader = readers.find(venue);
    if (reader !== undefined) {
      reader.absorb(page);
      return;
    }
    // Another node reads this venue: its data wins, so only markets that are unknown here are added.
    for (const event of page.events) if (board.applyEvent(event)) storeWriter.queueEvent(event);
    for (const snapshot of page.markets) {
      const { listing } = snapshot;
      if (board.find(listing.venue, listing.marketId) === null)
        storeWriter.queueChange(board.apply(snapshot, page.requestedAt));
    }
  };

  return async (venue, marketId) => {
    const adapter = venues.get(venue)?.adapter;
    if (adapter === undefined) return false;
    const count = inFlight.get(venue) ?? 0;
    if (count >= LOOK_UPS_MAX)
      throw new VenueError("rate_limited", `${venue}: too many requests for unknown markets`, { retryable: true });
    inFlight.set(venue, count + 1);
    const deadline = AbortSignal.timeout(LOOK_UP_MS_MAX);
    try {
      const page = await adapter.findMarket(marketId, deadline);
      if (page !== null) absorb(venue, page);
      return page !== null;
    } catch (error) {
      if (!deadline.aborted) throw error;
      throw new VenueError("timeout", `${venue} did not respond in time`, { retryable: true, cause: error });
    } finally {
      inFlight.set(venue, (inFlight.get(venue) ?? 1) - 1);
    }
  };
}
