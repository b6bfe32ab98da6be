import type { BoardMarket } from "../board/index.ts";
import { VenueError } from "../domain/errors.ts";
import type { VenueId } from "../domain/market.ts";
import type { MarketRef } from "../domain/market-name.ts";
import type { OrderBook } from "../domain/order-book.ts";
import { deleteOldest } from "../lib/delete-oldest.ts";
import type { Clock } from "../ports/clock.ts";
import type { VenueAdapter } from "../ports/venue.ts";
import { isUnsentRequestError, type VenueRequestQueue } from "./on-demand/venue-request-queue.ts";

/** Minimum time between two requests for a market's order book, whether they succeed or fail. */
const READ_EVERY_MS = 2_000;
/** Maximum number of cached results. More than the venues' rate limits allow in 2 seconds. */
const ENTRIES_MAX = 1_000;
const REQUEST_MS_MAX = 4_000;
/** Maximum age of the cached order book that is returned if the current one cannot be read. */
const LAST_BOOK_MS_MAX = 5 * 60_000;

export interface BookReaderOptions {
  readonly venues: ReadonlyMap<VenueId, { readonly adapter: Pick<VenueAdapter, "getBook"> }>;
  /** Returns the order book tracked by the venue's stream on this node; null if it has no current order book. */
  readonly trackedBookOf: (venue: VenueId, marketId: string) => OrderBook | null;
  readonly requests: VenueRequestQueue;
  readonly clock: Clock;
}

interface Entry {
  readonly book: Promise<OrderBook | null>;
  /** Monotonic milliseconds. */
  readonly requestedAt: number;
}

export type BookReader = ReturnType<typeof createBookReader>;

/**
 * Reads order books. If the venue's stream on this node tracks the order book, the tracked book is returned. Otherwise
 * it is requested from the venue, even if another node reads the venue. Concurrent and repeated reads share one
 * request.
 */
export function createBookReader(options: BookReaderOptions) {
  const { venues, trackedBookOf, requests, clock } = options;
  /** By venue and market id, oldest request first. */
  const entries = new Map<string, Entry>();
  /** Last known books by venue and market id, least recently read first. */
  const lastBooks = new Map<string, OrderBook>();

  const removeOldEntries = (): void => {
    const now = clock.monotonic();
    for (const [id, { requestedAt }] of entries) {
      const isExpired = now - requestedAt >= READ_EVERY_MS;
      if (!isExpired && entries.size <= ENTRIES_MAX) break;
      entries.delete(id);
    }
  };

  /**
   * Returns the market's order book, or null if the market has none (AMM, resolved). The request for a returned book
   * was sent at most 2 seconds before the call.
   *
   * @throws VenueError under the conditions of `VenueRequestQueue.run`, with a timeout of 4 seconds
   */
  const read = async ({ listing }: BoardMarket): Promise<OrderBook | null> => {
    const { venue, marketId } = listing;
    const adapter = venues.get(venue)?.adapter;
    if (adapter === undefined || listing.status === "finalized") return null;
    const trackedBook = trackedBookOf(venue, marketId);
    if (trackedBook !== null) return trackedBook;
    const id = `${venue}/${marketId}`;
    const current = entries.get(id);
    const now = clock.monotonic();
    if (current !== undefined && now - current.requestedAt < READ_EVERY_MS) return current.book;
    let requestedAt: number | null = null;
    const book = requests.run(venue, `book ${marketId}`, REQUEST_MS_MAX, (signal) => {
      requestedAt = clock.monotonic();
      return adapter.getBook(listing, signal);
    });
    const keep = (error?: unknown) => {
      // If no request was sent, the next caller sends one.
      if (requestedAt === null || isUnsentRequestError(error)) return;
      entries.delete(id);
      entries.set(id, { book, requestedAt });
      removeOldEntries();
    };
    book.then(() => keep(), keep);
    return book;
  };

  return {
    /** Number of cached results. */
    get entryCount(): number {
      return entries.size;
    },
    /** Returns the order books tracked by the streams on this node, without requests; null for a market without one. */
    tracked: async (markets: readonly MarketRef[]): Promise<readonly (OrderBook | null)[]> =>
      markets.map(({ venue, marketId }) => trackedBookOf(venue, marketId)),
    read,
    /**
     * Returns the market's order book like `read`. If the read fails, returns the last order book, with `isQuoteStale` set,
     * if it was read within the last five minutes.
     *
     * @throws VenueError if the read fails and there is no such order book
     */
    async readOrLast(market: BoardMarket): Promise<{ readonly book: OrderBook | null; readonly isStale: boolean }> {
      const id = `${market.listing.venue}/${market.listing.marketId}`;
      try {
        const book = await read(market);
        lastBooks.delete(id);
        if (book !== null) lastBooks.set(id, book);
        deleteOldest(lastBooks, ENTRIES_MAX);
        return { book, isStale: false };
      } catch (error) {
        if (!(error instanceof VenueError)) throw error;
        const last = lastBooks.get(id);
        if (last === undefined || clock.now() - last.receivedAt > LAST_BOOK_MS_MAX) throw error;
        return { book: last, isStale: true };
      }
    },
  };
}
