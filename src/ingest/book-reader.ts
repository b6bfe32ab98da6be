import type { BoardMarket } from "../board/index.ts";
import { VenueError } from "../domain/errors.ts";
import type { VenueId } from "../domain/market.ts";
import type { OrderBook } from "../domain/order-book.ts";
import { deleteOldest } from "../lib/delete-oldest.ts";
import type { Clock } from "../ports/clock.ts";
import type { VenueAdapter } from "../ports/venue.ts";
import { isNotSent, type VenueRequestQueue } from "./on-demand/venue-request-queue.ts";

/** A market's book is requested from its venue at most once in this time. Failures count as well. */
const READ_EVERY_MS = 2_000;
/** Limit of results that are kept. The requests that a venue allows in 2 seconds are fewer. */
const ENTRIES_MAX = 1_000;
const REQUEST_MS_MAX = 4_000;
/** If a book cannot be read, the last known one serves for this time. */
const LAST_BOOK_MS_MAX = 5 * 60_000;

export interface BookReaderOptions {
  readonly venues: ReadonlyMap<VenueId, { readonly adapter: Pick<VenueAdapter, "getBook"> }>;
  /** Returns the book that the venue's stream tracks on this node, or null if it tracks none that is current. */
  readonly trackedBookOf: (venue: VenueId, marketId: string) => OrderBook | null;
  readonly requests: VenueRequestQueue;
  readonly clock: Clock;
}

interface Entry {
  readonly book: Promise<OrderBook | null>;
  /** Monotonic milliseconds. */
  readonly requestedAt: number;
}

/**
 * Reads order books: from the stream where it tracks the market's book, else from the venue, whichever node ingests it.
 * Concurrent and repeated reads of a market share one request.
 */
export class BookReader {
  readonly #options: BookReaderOptions;
  /** By venue and market id, oldest request first. */
  readonly #entries = new Map<string, Entry>();
  /** Last known books by venue and market id, least recently read first. */
  readonly #lastBooks = new Map<string, OrderBook>();

  constructor(options: BookReaderOptions) {
    this.#options = options;
  }

  /** Number of requested books that are kept. */
  get entryCount(): number {
    return this.#entries.size;
  }

  /** Returns the book that the venue's stream tracks on this node, without a request; null if it tracks none. */
  tracked({ listing }: BoardMarket): OrderBook | null {
    return this.#options.trackedBookOf(listing.venue, listing.marketId);
  }

  /**
   * Returns the market's order book as `read` does. If it cannot be read, returns the last book that was read in the
   * last five minutes, as stale.
   *
   * @throws VenueError as `read`, if there is no such book
   */
  async readOrLast(market: BoardMarket): Promise<{ readonly book: OrderBook | null; readonly isStale: boolean }> {
    const id = `${market.listing.venue}/${market.listing.marketId}`;
    try {
      const book = await this.read(market);
      this.#lastBooks.delete(id);
      if (book !== null) this.#lastBooks.set(id, book);
      deleteOldest(this.#lastBooks, ENTRIES_MAX);
      return { book, isStale: false };
    } catch (error) {
      if (!(error instanceof VenueError)) throw error;
      const last = this.#lastBooks.get(id);
      if (last === undefined || this.#options.clock.now() - last.receivedAt > LAST_BOOK_MS_MAX) throw error;
      return { book: last, isStale: true };
    }
  }

  /**
   * Returns the market's order book, or null if it has none (AMM, resolved). A book that was requested from the venue
   * is at most 2 seconds older than the call, plus the time of the request.
   *
   * @throws VenueError as `VenueRequestQueue.run`, with 4 seconds
   */
  async read({ listing }: BoardMarket): Promise<OrderBook | null> {
    const { venues, trackedBookOf, requests, clock } = this.#options;
    const { venue, marketId } = listing;
    const adapter = venues.get(venue)?.adapter;
    if (adapter === undefined || listing.status === "finalized") return null;
    const trackedBook = trackedBookOf(venue, marketId);
    if (trackedBook !== null) return trackedBook;
    const id = `${venue}/${marketId}`;
    const current = this.#entries.get(id);
    const now = clock.monotonic();
    if (current !== undefined && now - current.requestedAt < READ_EVERY_MS) return current.book;
    let requestedAt: number | null = null;
    const book = requests.runShared(venue, `book ${marketId}`, REQUEST_MS_MAX, (signal) => {
      requestedAt = clock.monotonic();
      return adapter.getBook(listing, signal);
    });
    const keep = (error?: unknown) => {
      // If no request was sent, the next caller sends one.
      if (requestedAt === null || isNotSent(error)) return;
      this.#entries.delete(id);
      this.#entries.set(id, { book, requestedAt });
      this.#removeOldEntries();
    };
    book.then(() => keep(), keep);
    return book;
  }

  #removeOldEntries(): void {
    const now = this.#options.clock.monotonic();
    for (const [id, { requestedAt }] of this.#entries) {
      const isExpired = now - requestedAt >= READ_EVERY_MS;
      if (!isExpired && this.#entries.size <= ENTRIES_MAX) break;
      this.#entries.delete(id);
    }
  }
}
