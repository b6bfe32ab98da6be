import { MARKET_STATUSES, type MarketStatus, type VenueId } from "../domain/market.ts";
import type { Bitmap } from "./bitmap.ts";
import { type BoardMarket, type MarketQuery, SORT_KEYS, type SortKey } from "./model.ts";
import { OrderedIndex } from "./ordered-index.ts";
import { StringInterner } from "./string-interner.ts";

const INITIAL_ROWS = 1_024;
const STATUS_BITS = 3;
/** Facets of a row that is never listed: an unused row, or a market without a price. */
const UNLISTED = 0;

interface MarketSelection extends Omit<MarketQuery, "text"> {
  /** Rows to select from; null for all. */
  readonly candidates: Bitmap | null;
}

/**
 * Filters and sorts markets for lists. It keeps one ordered index per sort key, updated on every change, and the facets
 * of each row in typed arrays. A list walks the ordered index from the start of its page and selects matching rows. If a
 * search has only a few candidates, those are filtered and sorted instead. Each row is read at most once.
 */
export class MarketIndex {
  readonly #orders: Readonly<Record<SortKey, OrderedIndex>>;
  /** 1 + the encoded venue and status, or `UNLISTED`. */
  #facets = new Uint32Array(INITIAL_ROWS);
  /** 1 + the number of the category, or 0 for none. */
  #categories = new Uint32Array(INITIAL_ROWS);
  readonly #categoryOfRow: (string | null | undefined)[] = [];
  readonly #categoryNumbers = new StringInterner();
  readonly #venueNumbers = new Map<VenueId, number>();

  /** @param idOf  id that orders rows of equal value; must not change while the row is in use */
  constructor(idOf: (row: number) => string) {
    const order = () => new OrderedIndex(idOf);
    this.#orders = {
      volume_24h: order(),
      liquidity: order(),
      open_interest: order(),
      updated_at: order(),
      resolution_date: order(),
      price_change_24h: order(),
    };
  }

  set(row: number, market: BoardMarket, change24h: number | null): void {
    if (row >= this.#facets.length) this.#grow(row + 1);
    const { activity, listing } = market;
    this.#facets[row] = market.yesPrice === null ? UNLISTED : this.#facetsOf(listing.venue, listing.status);
    this.#orders.volume_24h.set(row, activity.volume24hUsd);
    this.#orders.liquidity.set(row, activity.liquidityUsd);
    this.#orders.open_interest.set(row, activity.openInterestUsd);
    this.#orders.updated_at.set(row, market.updatedAt);
    this.#orders.resolution_date.set(row, listing.expectedResolutionAt === null ? null : -listing.expectedResolutionAt);
    this.#orders.price_change_24h.set(row, change24h);
  }

  /** Sets the displayed category of a market: its own or that of its event. */
  setCategory(row: number, category: string | null): void {
    if (row >= this.#categories.length) this.#grow(row + 1);
    const next = category?.toLowerCase() ?? null;
    const current = this.#categoryOfRow[row] ?? null;
    if (next === current) return;
    this.#categories[row] = next === null ? 0 : 1 + this.#categoryNumbers.acquire(next);
    if (current !== null) this.#categoryNumbers.release(current);
    this.#categoryOfRow[row] = next;
  }

  delete(row: number): void {
    this.#facets[row] = UNLISTED;
    this.setCategory(row, null);
    for (const key of SORT_KEYS) this.#orders[key].delete(row);
  }

  /** Sorts all ordered indexes, which the first list of each sort key would otherwise do. */
  prepare(rowsById: readonly number[]): void {
    for (const key of SORT_KEYS) this.#orders[key].prepare(rowsById);
  }

  value(row: number, sort: SortKey): number | null {
    return this.#orders[sort].value(row);
  }

  /** Whether the row's market has a price. */
  isListed(row: number): boolean {
    return this.#facets[row] !== UNLISTED;
  }

  isActive(row: number): boolean {
    const facets = this.#facets[row] ?? UNLISTED;
    return facets !== UNLISTED && ((facets - 1) & ((1 << STATUS_BITS) - 1)) === ACTIVE;
  }

  /** The first matching rows after a position: larger values first, unknown values last, equal values by id. */
  select(options: MarketSelection): number[] {
    const { candidates, limit, after } = options;
    const order = this.#orders[options.sort];
    const categoryNumber =
      options.category === null ? null : this.#categoryNumbers.find(options.category.toLowerCase());
    if ((options.category !== null && categoryNumber === null) || limit <= 0) return [];
    const category = categoryNumber === null ? null : categoryNumber + 1;
    const isSelected = this.#selectedFacets(options.venues, options.statuses);
    const matches = (row: number): boolean =>
      isSelected[this.#facets[row] ?? UNLISTED] === 1 && (category === null || this.#categories[row] === category);

    const rows: number[] = [];
    if (candidates?.isSparse === true) {
      candidates.forEach((row) => {
        if (matches(row) && (after === null || order.isAfter(row, after))) rows.push(row);
      });
      return rows.sort((a, b) => order.compare(a, b)).slice(0, limit);
    }
    order.walk(after, (row) => {
      if (matches(row) && (candidates === null || candidates.has(row))) rows.push(row);
      return rows.length < limit;
    });
    return rows;
  }

  #facetsOf(venue: VenueId, status: MarketStatus): number {
    let number = this.#venueNumbers.get(venue);
    if (number === undefined) {
      number = this.#venueNumbers.size;
      this.#venueNumbers.set(venue, number);
    }
    return 1 + ((number << STATUS_BITS) | MARKET_STATUSES.indexOf(status));
  }

  /** For each possible facets value: 1 if its venue and status are selected, else 0. */
  #selectedFacets(venues: readonly VenueId[], statuses: readonly MarketStatus[]): Uint8Array {
    const isSelected = new Uint8Array(1 + (this.#venueNumbers.size << STATUS_BITS));
    for (const venue of venues) {
      if (!this.#venueNumbers.has(venue)) continue;
      for (const status of statuses) isSelected[this.#facetsOf(venue, status)] = 1;
    }
    return isSelected;
  }

  #grow(rows: number): void {
    const length = Math.max(rows, this.#facets.length * 2);
    this.#facets = resized(this.#facets, length);
    this.#categories = resized(this.#categories, length);
  }
}

const ACTIVE = MARKET_STATUSES.indexOf("active");

function resized(from: Uint32Array, length: number): Uint32Array<ArrayBuffer> {
  const to = new Uint32Array(length);
  to.set(from);
  return to;
}
