import { type Category, categoryOf } from "../domain/category.ts";
import { MARKET_STATUSES, type MarketStatus, type VenueId } from "../domain/market.ts";
import { copyInto } from "../lib/numbers.ts";
import type { Bitmap } from "./bitmap.ts";
import { CategoryTotals } from "./category-totals.ts";
import {
  type BoardMarket,
  type CategorySummary,
  isInCategory,
  type MarketFilter,
  type MarketQuery,
  SORT_KEYS,
  type SortKey,
} from "./model.ts";
import { OrderedIndex } from "./ordered-index.ts";
import { StringInterner } from "./string-interner.ts";

const INITIAL_ROWS = 1_024;
const STATUS_BITS = 3;
/** Facets value of unlisted rows: unused rows and rows of markets without a price. */
const UNLISTED = 0;

/** Rows to select from; null selects from all rows. */
interface Candidates {
  readonly candidates: Bitmap | null;
}
type MarketSelection = Omit<MarketQuery, "text"> & Candidates;

/**
 * Filters and sorts markets for lists. It updates one ordered index per sort key on every change and stores venue,
 * status and category of each row in typed arrays. For a list, it visits the rows of the ordered index from the start
 * of the page and selects matching rows. If a search has only a few candidates, they are filtered and sorted instead.
 */
export class MarketIndex {
  readonly #orders: Readonly<Record<SortKey, OrderedIndex>>;
  /** For each row: 1 + the encoded venue and status, or `UNLISTED`. */
  #facets = new Uint32Array(INITIAL_ROWS);
  /** For each row: 1 + the number of the category, or 0 if the market has no category. */
  #categories = new Uint32Array(INITIAL_ROWS);
  /** Result buffer that `findRows` reuses: a new array of this size per call would cause full garbage collections. */
  #foundRows = new Uint32Array(INITIAL_ROWS);
  readonly #categoryOfRow: (string | null | undefined)[] = [];
  readonly #categoryNumbers = new StringInterner();
  readonly #venueNumbers = new Map<VenueId, number>();
  readonly #venues: VenueId[] = [];
  readonly #ourCategoryOfRow: (Category | null)[] = [];
  readonly #categoryTotals = new CategoryTotals();

  /** @param idOf  returns the id of a row. It sorts rows of equal value and must not change while the row is in use */
  constructor(idOf: (row: number) => string) {
    const createIndex = () => new OrderedIndex(idOf);
    this.#orders = {
      volume_24h: createIndex(),
      liquidity: createIndex(),
      open_interest: createIndex(),
      updated_at: createIndex(),
      resolution_date: createIndex(),
      price_change_24h: createIndex(),
      edge: createIndex(),
    };
  }

  set(row: number, market: BoardMarket, change24h: number | null): void {
    if (row >= this.#facets.length) this.#grow(row + 1);
    const { activity, listing } = market;
    this.#facets[row] = market.yesPrice === null ? UNLISTED : this.#encodeFacets(listing.venue, listing.status);
    this.#orders.volume_24h.set(row, activity.volume24hUsd);
    this.#orders.liquidity.set(row, activity.liquidityUsd);
    this.#orders.open_interest.set(row, activity.openInterestUsd);
    this.#orders.updated_at.set(row, market.updatedAt);
    this.#orders.resolution_date.set(row, listing.expectedResolutionAt === null ? null : -listing.expectedResolutionAt);
    this.#orders.price_change_24h.set(row, change24h);
    // Keeps the edge of a known row; a new row has no edge.
    this.#orders.edge.set(row, this.#orders.edge.value(row));
    this.#updateTotals(row);
  }

  /** Sets the category for the category filter: the category of the market or, without one, of its event. */
  setCategory(row: number, category: string | null): void {
    if (row >= this.#categories.length) this.#grow(row + 1);
    const nextCategory = category?.toLowerCase() ?? null;
    const currentCategory = this.#categoryOfRow[row] ?? null;
    if (nextCategory === currentCategory) return;
    this.#categories[row] = nextCategory === null ? 0 : 1 + this.#categoryNumbers.acquire(nextCategory);
    if (currentCategory !== null) this.#categoryNumbers.release(currentCategory);
    this.#categoryOfRow[row] = nextCategory;
    this.#ourCategoryOfRow[row] = categoryOf(nextCategory);
    this.#updateTotals(row);
  }

  /** Sets the value of the sort key `edge`. Ignores a row that is not in the index. */
  setEdge(row: number, edge: number | null): void {
    if (this.#facets[row] !== undefined) this.#orders.edge.set(row, edge);
  }

  delete(row: number): void {
    this.#facets[row] = UNLISTED;
    this.setCategory(row, null);
    for (const key of SORT_KEYS) this.#orders[key].delete(row);
  }

  /** Sorts all ordered indexes. Without this call, an index is sorted when a list first uses it. */
  prepare(rowsById: readonly number[]): void {
    for (const key of SORT_KEYS) this.#orders[key].prepare(rowsById);
  }

  value(row: number, sort: SortKey): number | null {
    return this.#orders[sort].value(row);
  }

  /** Status of the market in this row; null if the row is not listed. */
  statusOf(row: number): MarketStatus | null {
    const facets = this.#facets[row] ?? UNLISTED;
    return facets === UNLISTED ? null : (MARKET_STATUSES[(facets - 1) & ((1 << STATUS_BITS) - 1)] ?? null);
  }

  /** Whether the market in this row has a price. */
  isListed(row: number): boolean {
    return this.#facets[row] !== UNLISTED;
  }

  /** Returns the first matching rows after a position: larger values first, unknown values last, equal values by id. */
  select(options: MarketSelection): number[] {
    const { candidates, limit, after } = options;
    const orderedIndex = this.#orders[options.sort];
    const matches = this.#createMatcher(options);
    if (matches === null || limit <= 0) return [];
    const isReversed = options.isReversed === true;

    const rows: number[] = [];
    if (candidates?.isSparse === true) {
      candidates.forEach((row) => {
        if (matches(row) && (after === null || orderedIndex.isAfter(row, after, isReversed))) rows.push(row);
      });
      return rows.sort((a, b) => orderedIndex.compare(a, b, isReversed)).slice(0, limit);
    }
    const visit = (row: number): boolean => {
      if (matches(row) && (candidates === null || candidates.has(row))) rows.push(row);
      return rows.length < limit;
    };
    orderedIndex.walk(after, visit, isReversed);
    return rows;
  }

  /** Returns the number and the 24-hour volume of the venues' active markets by category, without empty categories. */
  summariseCategories(venues: readonly VenueId[]): CategorySummary[] {
    return this.#categoryTotals.summarise(venues);
  }

  #updateTotals(row: number): void {
    const category = this.#ourCategoryOfRow[row] ?? null;
    const venue = this.#venueOfRow(row);
    const isCounted = category !== null && venue !== null && this.statusOf(row) === "active";
    const volume24hUsd = this.#orders.volume_24h.value(row);
    this.#categoryTotals.set(row, isCounted ? { venue, category, volume24hUsd } : null);
  }

  #venueOfRow(row: number): VenueId | null {
    const facets = this.#facets[row] ?? UNLISTED;
    return facets === UNLISTED ? null : (this.#venues[(facets - 1) >> STATUS_BITS] ?? null);
  }

  /** Returns the values of `#categories` that a filter selects. */
  #findCategories(filter: string): ReadonlySet<number> {
    const numbers = new Set<number>();
    for (const [category, number] of this.#categoryNumbers.all())
      if (isInCategory(category, filter)) numbers.add(number + 1);
    return numbers;
  }

  /** Returns all matching rows in ascending order. The next call overwrites the result. */
  findRows(options: Omit<MarketFilter, "text"> & Candidates): Uint32Array {
    const matches = this.#createMatcher(options);
    if (matches === null) return this.#foundRows.subarray(0, 0);
    const { candidates } = options;
    const rowCount = this.#facets.length;
    const rows = this.#foundRows;
    let count = 0;
    if (candidates === null) {
      for (let row = 0; row < rowCount; row++) if (matches(row)) rows[count++] = row;
    } else {
      candidates.forEach((row) => {
        if (matches(row)) rows[count++] = row;
      });
    }
    return rows.subarray(0, count);
  }

  /** Returns whether a row matches venue, status and category, or null if no row can match. */
  #createMatcher(options: Omit<MarketFilter, "text">): ((row: number) => boolean) | null {
    const selectedCategories = options.category === null ? null : this.#findCategories(options.category.toLowerCase());
    if (selectedCategories?.size === 0) return null;
    const selectedFacets = this.#markSelectedFacets(options.venues, options.statuses);
    // Reading local arrays is several times as fast as reading the fields for each row.
    const facets = this.#facets;
    const categories = this.#categories;
    return (row) =>
      selectedFacets[facets[row] ?? UNLISTED] === 1 &&
      (selectedCategories === null || selectedCategories.has(categories[row] ?? 0));
  }

  #encodeFacets(venue: VenueId, status: MarketStatus): number {
    let venueNumber = this.#venueNumbers.get(venue);
    if (venueNumber === undefined) {
      venueNumber = this.#venueNumbers.size;
      this.#venueNumbers.set(venue, venueNumber);
      this.#venues.push(venue);
    }
    return 1 + ((venueNumber << STATUS_BITS) | MARKET_STATUSES.indexOf(status));
  }

  /** Returns for each possible facets value: 1 if its venue and status are selected, else 0. */
  #markSelectedFacets(venues: readonly VenueId[], statuses: readonly MarketStatus[]): Uint8Array {
    const selectedFacets = new Uint8Array(1 + (this.#venueNumbers.size << STATUS_BITS));
    for (const venue of venues) {
      if (!this.#venueNumbers.has(venue)) continue;
      for (const status of statuses) selectedFacets[this.#encodeFacets(venue, status)] = 1;
    }
    return selectedFacets;
  }

  #grow(rows: number): void {
    const length = Math.max(rows, this.#facets.length * 2);
    this.#facets = copyInto(new Uint32Array(length), this.#facets);
    this.#categories = copyInto(new Uint32Array(length), this.#categories);
    this.#foundRows = new Uint32Array(length);
  }
}
