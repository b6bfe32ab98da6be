import type { VenueId } from "../domain/market.ts";
import type { OrderBook } from "../domain/order-book.ts";
import type { ListingPage } from "../ports/venue.ts";
import type { IngestContext } from "./context.ts";
import { VenueIngest } from "./venue-ingest.ts";

/** The venues that this process currently reads. */
export class VenueReaders {
  readonly #context: IngestContext;
  readonly #readers = new Map<VenueId, VenueIngest>();

  constructor(context: IngestContext) {
    this.#context = context;
  }

  has(venue: VenueId): boolean {
    return this.#readers.has(venue);
  }

  /** Returns whether the first sweep of every venue that this process reads has completed or failed. */
  areFirstSweepsOver(): boolean {
    const { venues } = this.#context;
    return [...this.#readers.keys()].every((venue) => venues.get(venue)?.health.isSettled === true);
  }

  start(id: VenueId): void {
    const { adapter: venue, health } = this.#context.venues.get(id) ?? {};
    if (venue === undefined || health === undefined) return;
    const areFirstSweepsOver = () => this.areFirstSweepsOver();
    const reader = new VenueIngest({ ...this.#context, venue, health, areFirstSweepsOver });
    this.#readers.set(id, reader);
    reader.start();
  }

  /** Stops reading a venue. `has` returns true until `finish`, which stores the queued rows, has resolved. */
  async stop(venue: VenueId, finish: () => Promise<void>): Promise<void> {
    const reader = this.#readers.get(venue);
    await reader?.stop();
    await finish();
    if (this.#readers.get(venue) === reader) this.#readers.delete(venue);
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#readers.values()].map((reader) => reader.stop()));
  }

  /** Returns the order book that the venue's stream tracks on this node, or null if it tracks none that is current. */
  bookOf(venue: VenueId, marketId: string): OrderBook | null {
    return this.#readers.get(venue)?.bookOf(marketId) ?? null;
  }

  /** Applies a market that was looked up to the board. */
  applyPage(venue: VenueId, page: ListingPage): void {
    const reader = this.#readers.get(venue);
    if (reader !== undefined) {
      reader.applyPage(page);
      return;
    }
    // Another node reads this venue and its data takes precedence, so only markets that are not on the board are added.
    const { board, storeWriter } = this.#context;
    for (const event of page.events) {
      const changed = board.applyEvent(event);
      if (changed !== null) storeWriter.queueEvent(changed);
    }
    for (const snapshot of page.markets) {
      const { listing } = snapshot;
      if (board.find(listing.venue, listing.marketId) === null)
        storeWriter.queueChange(board.apply(snapshot, page.requestedAt));
    }
  }
}
