import type { MarketBoard } from "../board/index.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { ListingPage, VenueAdapter } from "../ports/venue.ts";
import type { StoreWriter } from "./store-writer.ts";
import type { VenueHealth } from "./venue-health.ts";

/** What the parts of one venue's ingest share. */
export interface VenueContext {
  readonly venue: VenueAdapter;
  readonly board: MarketBoard;
  readonly storeWriter: StoreWriter;
  readonly health: VenueHealth;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborts when this node stops reading the venue. */
  readonly signal: AbortSignal;
  /** Applies a page to the board and queues the changes for the store. */
  readonly absorb: (page: ListingPage) => void;
}
