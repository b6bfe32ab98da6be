import type { BoardMarket } from "../../../board/index.ts";
import { VenueError } from "../../../domain/errors.ts";
import type { VenueId } from "../../../domain/market.ts";
import { formatMarketRef } from "../../../domain/market-name.ts";
import type { OrderBook } from "../../../domain/order-book.ts";
import type { MarketDependencies } from "../ports.ts";
import type { RefreshFailure } from "./model.ts";
import type { ComparedPair } from "./pair-list.ts";

/**
 * Maximum duration of a scan, which then ends with the books that it has read. A caller can wait for two scans: the
 * running one and the next one.
 */
export const SCAN_MS_MAX = 9_500;
/** Maximum number of pairs whose books a scan reads. */
const CANDIDATES_MAX = 200;
/** Maximum number of concurrent reads from one venue. */
const READS_PER_VENUE_MAX = 3;
/** After this number of consecutive failures, a scan reads no more books from the venue. */
const CONSECUTIVE_FAILURES_MAX = 4;

/** The result of reading an order book: the book (null if the market has none), or the reason why it was not read. */
export type BookReading = { readonly book: OrderBook | null } | { readonly failure: RefreshFailure };

export interface ScanSelection {
  readonly minSpread: number;
  /** Selects pairs with a leg on this venue; null for all pairs. */
  readonly venue: VenueId | null;
}

interface LiveScanDependencies extends Pick<MarketDependencies, "clock" | "readBook"> {
  /** Returns the pairs to scan, best first. */
  readonly findCandidates: (selection: ScanSelection) => readonly ComparedPair[];
}

/** Results of a scan's reads, by `venue/marketId`. */
export type ScannedBooks = ReadonlyMap<string, BookReading>;

interface Scan {
  readonly selection: ScanSelection;
  readonly books: Promise<ScannedBooks>;
}

/**
 * Reads the books of the best candidates, one scan at a time. A caller shares the running scan if that scan covers the
 * caller's selection. Otherwise the caller shares the next scan, which covers the selections of all waiting callers.
 */
export class LiveScan {
  readonly #ports: LiveScanDependencies;
  #running: Scan | null = null;
  #next: { selection: ScanSelection; readonly books: Promise<ScannedBooks> } | null = null;

  constructor(ports: LiveScanDependencies) {
    this.#ports = ports;
  }

  scan(selection: ScanSelection): Promise<ScannedBooks> {
    if (this.#running === null) return this.#start(selection);
    if (covers(this.#running.selection, selection)) return this.#running.books;
    if (this.#next !== null) this.#next.selection = join(this.#next.selection, selection);
    else {
      const startNext = () => {
        const next = this.#next;
        this.#next = null;
        return this.#start(next?.selection ?? selection);
      };
      this.#next = { selection, books: this.#running.books.then(startNext, startNext) };
    }
    return this.#next.books;
  }

  #start(selection: ScanSelection): Promise<ScannedBooks> {
    const scan: Scan = { selection, books: this.#readBooks(selection) };
    this.#running = scan;
    const end = () => {
      if (this.#running === scan) this.#running = null;
    };
    scan.books.then(end, end);
    return scan.books;
  }

  async #readBooks(selection: ScanSelection): Promise<ScannedBooks> {
    const { clock, findCandidates } = this.#ports;
    const books = new Map<string, BookReading>();
    /** Markets to read by venue, best candidates first. */
    const queues = new Map<VenueId, BoardMarket[]>();
    for (const { a, b } of findCandidates(selection).slice(0, CANDIDATES_MAX)) {
      for (const market of [a, b]) {
        const id = formatMarketRef(market.listing);
        if (books.has(id)) continue;
        books.set(id, { failure: "deadline" });
        queues.set(market.listing.venue, [...(queues.get(market.listing.venue) ?? []), market]);
      }
    }
    const deadline = new AbortController();
    const cancelDeadline = clock.setTimeout(() => deadline.abort(), SCAN_MS_MAX);
    const isOver = new Promise<void>((resolve) => {
      deadline.signal.addEventListener("abort", () => resolve(), { once: true });
    });
    const reads = Promise.all([...queues.values()].map((queue) => this.#readVenue(queue, books, deadline.signal)));
    try {
      await Promise.race([reads, isOver]);
    } finally {
      // Reads that are still running must not change the result, and no further candidates are read.
      deadline.abort();
      cancelDeadline();
    }
    return books;
  }

  /** Reads the books of one venue, three at a time, until the signal aborts. */
  async #readVenue(queue: readonly BoardMarket[], books: Map<string, BookReading>, signal: AbortSignal): Promise<void> {
    let index = 0;
    let failuresInARow = 0;
    const readNext = async (): Promise<void> => {
      for (;;) {
        const market = queue[index++];
        if (market === undefined || signal.aborted) return;
        const isVenueDown = failuresInARow >= CONSECUTIVE_FAILURES_MAX;
        const reading = isVenueDown ? UNAVAILABLE : await this.#read(market);
        if (signal.aborted) return;
        // A rate-limited venue may still answer the next request, so this does not count as a failure.
        if (reading !== BUSY) failuresInARow = "failure" in reading ? failuresInARow + 1 : 0;
        books.set(formatMarketRef(market.listing), reading);
      }
    };
    await Promise.all(Array.from({ length: READS_PER_VENUE_MAX }, readNext));
  }

  async #read(market: BoardMarket): Promise<BookReading> {
    try {
      return { book: await this.#ports.readBook(market) };
    } catch (error) {
      if (!(error instanceof VenueError)) throw error;
      return error.failure === "rate_limited" ? BUSY : UNAVAILABLE;
    }
  }
}

const UNAVAILABLE: BookReading = { failure: "venue_unavailable" };
const BUSY: BookReading = { failure: "venue_busy" };

const covers = (wide: ScanSelection, narrow: ScanSelection): boolean =>
  wide.minSpread <= narrow.minSpread && (wide.venue === null || wide.venue === narrow.venue);

const join = (one: ScanSelection, other: ScanSelection): ScanSelection => ({
  minSpread: Math.min(one.minSpread, other.minSpread),
  venue: one.venue === other.venue ? one.venue : null,
});
