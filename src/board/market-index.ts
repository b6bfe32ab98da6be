import { MARKET_STATUSES, type MarketStatus, type VenueId } from "../domain/market.ts";
import type { Bitmap } from "./bitmap.ts";
import { type BoardMarket, SORT_KEYS, type SortKey } from "./model.ts";
import { OrderedIndex } from "./ordered-index.ts";
import { StringInterner } from "./string-interner.ts";

const ROWS_AT_FIRST = 1_024;
const STATUS_BITS = 3;
/** Facets of a row that no list shows: empty, or of a market without a price. */
const UNLISTED = 0;

export interface BestOptions {
  readonly venues: readonly VenueId[];
  readonly statuses: readonly MarketStatus[];
  /** In any case; null for all. */
  readonly category: string | null;
  readonly sort: SortKey;
  readonly limit: number;
  readonly after: { readonly value: number | null; readonly id: string } | null;
  /** Only these rows, or all when null. */
  readonly among: Bitmap | null;
}

/**
 * What lists are filtered and sorted by: every sort's order, kept up to date with each change, and the facets in a typed
 * array. A list walks its order from where the page begins and takes what fits; a search that found little sorts that
 * little instead. Neither reads more than the rows once, a few nanoseconds each.
 */
export class MarketIndex {
  readonly #orders: Readonly<Record<SortKey, OrderedIndex>>;
  /** 1 + venue and status, or `UNLISTED`. */
  #facets = new Uint32Array(ROWS_AT_FIRST);
  /** 1 + number of the category, or 0 for none. */
  #categories = new Uint32Array(ROWS_AT_FIRST);
  readonly #categoryOfRow: (string | null | undefined)[] = [];
  readonly #categoryNumbers = new StringInterner();
  readonly #venueNumbers = new Map<VenueId, number>();

  /** @param idOf  the id by which rows of equal values are ordered; fixed as long as the row is in use */
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

  /** The category a market is shown with, which may be its event's. */
  setCategory(row: number, category: string | null): void {
    if (row >= this.#categories.length) this.#grow(row + 1);
    const next = category?.toLowerCase() ?? null;
    const known = this.#categoryOfRow[row] ?? null;
    if (next === known) return;
    this.#categories[row] = next === null ? 0 : 1 + this.#categoryNumbers.take(next);
    if (known !== null) this.#categoryNumbers.release(known);
    this.#categoryOfRow[row] = next;
  }

  clear(row: number): void {
    this.#facets[row] = UNLISTED;
    this.setCategory(row, null);
    for (const key of SORT_KEYS) this.#orders[key].delete(row);
  }

  /** Sorts what was only gathered so far, so that no first list has to. */
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

  /** Rows in order: larger values first, unknown ones last, equal ones by id. */
  best(options: BestOptions): number[] {
    const { among, limit } = options;
    const order = this.#orders[options.sort];
    const after = options.after === null ? null : { value: options.after.value, name: options.after.id };
    const categoryNumber =
      options.category === null ? null : this.#categoryNumbers.find(options.category.toLowerCase());
    if ((options.category !== null && categoryNumber === null) || limit <= 0) return [];
    const category = categoryNumber === null ? null : categoryNumber + 1;
    const wanted = this.#wantedFacets(options.venues, options.statuses);
    const fits = (row: number): boolean =>
      wanted[this.#facets[row] ?? UNLISTED] === 1 && (category === null || this.#categories[row] === category);

    const best: number[] = [];
    if (among?.isSparse === true) {
      among.forEach((row) => {
        if (fits(row) && (after === null || order.isBehind(row, after))) best.push(row);
      });
      return best.sort((a, b) => order.compare(a, b)).slice(0, limit);
    }
    order.walk(after, (row) => {
      if (fits(row) && (among === null || among.has(row))) best.push(row);
      return best.length < limit;
    });
    return best;
  }

  #facetsOf(venue: VenueId, status: MarketStatus): number {
    let number = this.#venueNumbers.get(venue);
    if (number === undefined) {
      number = this.#venueNumbers.size;
      this.#venueNumbers.set(venue, number);
    }
    return 1 + ((number << STATUS_BITS) | MARKET_STATUSES.indexOf(status));
  }

  /** For each value that facets may have: 1 when it is asked for. */
  #wantedFacets(venues: readonly VenueId[], statuses: readonly MarketStatus[]): Uint8Array {
    const wanted = new Uint8Array(1 + (this.#venueNumbers.size << STATUS_BITS));
    for (const venue of venues) {
      if (!this.#venueNumbers.has(venue)) continue;
      for (const status of statuses) wanted[this.#facetsOf(venue, status)] = 1;
    }
    return wanted;
  }

  #grow(rows: number): void {
    const length = Math.max(rows, this.#facets.length * 2);
    this.#facets = grown(this.#facets, length);
    this.#categories = grown(this.#categories, length);
  }
}

const ACTIVE = MARKET_STATUSES.indexOf("active");

function grown(from: Uint32Array, length: number): Uint32Array<ArrayBuffer> {
  const to = new Uint32Array(length);
  to.set(from);
  return to;
}
