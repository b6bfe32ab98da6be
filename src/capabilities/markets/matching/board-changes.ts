import {
  type BoardEvent,
  type BoardMarket,
  eventSlugOf,
  type MarketBoard,
  type MarketObserver,
} from "../../../board/index.ts";
import type { EventListing, MarketListing } from "../../../domain/market.ts";
import { formatMarketRef } from "../../../domain/market-name.ts";
import type { MatchableMarket } from "../../../matching/index.ts";

/** Maximum number of markets, and of removals, per batch. */
const BATCH_MARKETS_MAX = 250;
/** Maximum number of rows compared per batch. Comparing a row takes about a microsecond. */
const BATCH_ROWS_MAX = 1_000;

/** Changes since the previous batch. */
export interface BoardBatch {
  readonly removed: string[];
  readonly markets: MatchableMarket[];
  readonly newRules: string[];
  /** Markets with a new URL: the URL has changed, or the market is new in its row. */
  readonly newUrls: string[];
}

/**
 * Collects the changes of the board that matching needs: text, times and status of the active markets, never quotes. A
 * market that changes several times between two batches is sent once. Memory is bounded by the size of the board: a few
 * references per row.
 */
export class BoardChanges implements MarketObserver {
  readonly #board: MarketBoard;
  readonly #onWork: () => void;
  /** Listing and event of each row as of its last comparison; undefined before the first. */
  #listings: (MarketListing | undefined)[] = [];
  #events: (EventListing | undefined)[] = [];
  /** Rows below this number have been compared at least once. */
  #scannedRows = 0;
  #rowCount = 0;
  readonly #changedRows = new Set<number>();
  readonly #removedIds = new Set<string>();

  /** @param onWork  called when there are changes to send, possibly several times before the next batch */
  constructor(board: MarketBoard, onWork: () => void) {
    this.#board = board;
    this.#onWork = onWork;
  }

  /** Number of changes that have not been sent. */
  get pendingCount(): number {
    return this.#rowCount - this.#scannedRows + this.#changedRows.size + this.#removedIds.size;
  }

  /** Starts again: sends all active markets of the board as if none had been sent before. */
  reset(): void {
    this.#listings = [];
    this.#events = [];
    this.#scannedRows = 0;
    this.#changedRows.clear();
    this.#removedIds.clear();
  }

  onSet({ row, listing }: BoardMarket): void {
    if (row >= this.#scannedRows) this.#rowCount = Math.max(this.#rowCount, row + 1);
    else if (this.#listings[row] === listing) return;
    else this.#changedRows.add(row);
    this.#onWork();
  }

  onRemove(row: number): void {
    const listing = this.#listings[row];
    if (listing === undefined) return;
    this.#listings[row] = undefined;
    this.#events[row] = undefined;
    if (!isMatchable(listing)) return;
    this.#removedIds.add(formatMarketRef(listing));
    this.#onWork();
  }

  onEvent({ slug }: BoardEvent): void {
    for (const { row } of this.#board.marketsOfEvent(slug)) {
      if (row >= this.#scannedRows) continue;
      this.#changedRows.add(row);
      this.#onWork();
    }
  }

  /** Takes the next batch. All lists are empty if the compared part of the board has no changes. */
  take(): BoardBatch {
    const removed = takeFrom(this.#removedIds, BATCH_MARKETS_MAX);
    const batch = { removed, markets: [], newRules: [], newUrls: [] };
    // Markets are sent after all removals, because a removed market may have returned.
    if (this.#removedIds.size > 0) return batch;
    this.#compareRows(batch);
    return batch;
  }

  #compareRows(batch: BoardBatch): void {
    for (let count = 0; count < BATCH_ROWS_MAX && batch.markets.length < BATCH_MARKETS_MAX; count++) {
      const row = this.#nextRow();
      if (row === null) return;
      for (const market of this.#board.rows([row])) this.#compare(market, batch);
    }
  }

  #nextRow(): number | null {
    if (this.#scannedRows < this.#rowCount) return this.#scannedRows++;
    const [row = null] = takeFrom(this.#changedRows, 1);
    return row;
  }

  #compare({ row, listing }: BoardMarket, batch: BoardBatch): void {
    const slug = eventSlugOf(listing);
    const event = slug === null ? undefined : this.#board.findEvent(slug)?.listing;
    const previous = this.#listings[row];
    const previousEvent = this.#events[row];
    this.#listings[row] = listing;
    this.#events[row] = event;
    const id = formatMarketRef(listing);
    const wasMatchable = previous !== undefined && isMatchable(previous);
    if (!isMatchable(listing)) {
      if (wasMatchable) batch.removed.push(id);
      return;
    }
    if (previous?.url !== listing.url) batch.newUrls.push(id);
    if (wasMatchable && previous.rules !== listing.rules) batch.newRules.push(id);
    if (wasMatchable && isSameText(previous, listing) && isSameEvent(previousEvent, event)) return;
    batch.markets.push({
      id,
      venue: listing.venue,
      title: listing.title,
      outcomeLabel: listing.outcomeLabel,
      eventSlug: slug,
      eventTitle: event?.title ?? null,
      category: listing.category ?? event?.category ?? null,
      openAt: listing.openAt,
      closeAt: listing.closeAt,
      expectedResolutionAt: listing.expectedResolutionAt,
      slug: listing.venueKeys.slug,
      mirroredSlug: listing.venueKeys.mirroredSlug,
    });
  }
}

/** Settled markets, closed markets, and markets before trading are not matched. Paused markets are matched. */
const isMatchable = ({ status }: MarketListing): boolean => status === "active";

function isSameText(a: MarketListing, b: MarketListing): boolean {
  return (
    a.title === b.title &&
    a.outcomeLabel === b.outcomeLabel &&
    a.eventId === b.eventId &&
    a.category === b.category &&
    a.openAt === b.openAt &&
    a.closeAt === b.closeAt &&
    a.expectedResolutionAt === b.expectedResolutionAt &&
    a.venueKeys.slug === b.venueKeys.slug &&
    a.venueKeys.mirroredSlug === b.venueKeys.mirroredSlug
  );
}

function isSameEvent(a: EventListing | undefined, b: EventListing | undefined): boolean {
  return a?.title === b?.title && a?.category === b?.category;
}

/** Removes and returns the first `limit` values. */
function takeFrom<Value>(values: Set<Value>, limit: number): Value[] {
  const taken: Value[] = [];
  for (const value of values) {
    if (taken.length >= limit) break;
    taken.push(value);
    values.delete(value);
  }
  return taken;
}
