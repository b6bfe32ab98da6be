import type { VenueId } from "../domain/market.ts";
import type { OrderBook } from "../domain/order-book.ts";
import type { ListingPage } from "../ports/venue.ts";
import type { IngestContext } from "./context.ts";
import type { VenueRequestQueue } from "./on-demand/venue-request-queue.ts";
import { VenueIngest } from "./venue-ingest.ts";

const LOOK_UP_MS_MAX = 4_000;

/** The venues that this process currently reads. */
export class VenueReaders {
  readonly #context: IngestContext;
  readonly #readers = new Map<VenueId, VenueIngest>();
  readonly #requests: VenueRequestQueue;

  constructor(context: IngestContext, requests: VenueRequestQueue) {
    this.#context = context;
    this.#requests = requests;
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

  /**
   * Requests a market that is not on the board from its venue. Returns false if the venue does not have it.
   *
   * @throws VenueError as `VenueRequestQueue.run`
   */
  async lookUp(venue: VenueId, marketId: string): Promise<boolean> {
    const adapter = this.#context.venues.get(venue)?.adapter;
    if (adapter === undefined) return false;
    const page = await this.#requests.run(venue, LOOK_UP_MS_MAX, (signal) => adapter.findMarket(marketId, signal));
    if (page !== null) this.#absorb(venue, page);
    return page !== null;
  }

  #absorb(venue: VenueId, page: ListingPage): void {
    const reader = this.#readers.get(venue);
    if (reader !== undefined) {
      reader.absorb(page);
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
