import { MARKET_STATUSES } from "../../domain/market.ts";
import { type BoardMarket, SORT_KEYS, type SortKey } from "./model.ts";

const EMPTY = 255;
const ROWS_AT_FIRST = 1_024;
const SHORT_LIST_MAX = 256;

export interface BestOptions {
  readonly sort: SortKey;
  readonly limit: number;
  readonly after: { readonly value: number | null; readonly id: string } | null;
  /** Only these rows, or all when null. */
  readonly among: ReadonlySet<number> | null;
  readonly rowCount: number;
  readonly fits: (row: number) => boolean;
  readonly idOf: (row: number) => string;
}

/**
 * What lists are filtered and sorted by, one typed array a column. A list is one pass over them that keeps the best few:
 * always fresh, nothing to keep sorted, a few nanoseconds a row.
 */
export class Columns {
  #venues = new Uint8Array(ROWS_AT_FIRST).fill(EMPTY);
  #statuses = new Uint8Array(ROWS_AT_FIRST);
  #listed = new Uint8Array(ROWS_AT_FIRST);
  #values: Record<SortKey, Float64Array> = emptyColumns(ROWS_AT_FIRST);

  set(row: number, market: BoardMarket, venueNumber: number, change24h: number | null): void {
    if (row >= this.#venues.length) this.#grow(row + 1);
    this.#venues[row] = venueNumber;
    this.#statuses[row] = MARKET_STATUSES.indexOf(market.listing.status);
    this.#listed[row] = market.yesPrice === null ? 0 : 1;
    const { activity, listing } = market;
    this.#values.volume_24h[row] = activity.volume24hUsd ?? Number.NaN;
    this.#values.liquidity[row] = activity.liquidityUsd ?? Number.NaN;
    this.#values.open_interest[row] = activity.openInterestUsd ?? Number.NaN;
    this.#values.updated_at[row] = market.updatedAt;
    this.#values.resolution_date[row] =
      listing.expectedResolutionAt === null ? Number.NaN : -listing.expectedResolutionAt;
    this.#values.price_change_24h[row] = change24h === null ? Number.NaN : change24h;
  }

  clear(row: number): void {
    this.#venues[row] = EMPTY;
  }

  fits(row: number, venues: ReadonlySet<number>, statuses: ReadonlySet<number>): boolean {
    return (
      this.#listed[row] === 1 && venues.has(this.#venues[row] ?? EMPTY) && statuses.has(this.#statuses[row] ?? EMPTY)
    );
  }

  value(row: number, sort: SortKey): number | null {
    const value = this.#values[sort][row];
    return value === undefined || Number.isNaN(value) ? null : value;
  }

  /** Rows in order: larger values first, unknown ones last, equal ones by id. */
  best(options: BestOptions): number[] {
    const { limit, fits, idOf, after } = options;
    const values = this.#values[options.sort];
    const sortValue = (row: number): number => known(values[row] ?? Number.NaN);
    const compare = (a: number, b: number): number => {
      const difference = sortValue(b) - sortValue(a);
      if (difference > 0 || difference < 0) return difference;
      return idOf(a) < idOf(b) ? -1 : 1;
    };
    const afterValue = after === null ? Number.POSITIVE_INFINITY : known(after.value ?? Number.NaN);
    const isBehind = (row: number): boolean => {
      const value = sortValue(row);
      return after === null || value < afterValue || (value === afterValue && idOf(row) > after.id);
    };
    const best: number[] = [];
    // A short list stays sorted while rows come by, so that most of them are refused by one comparison; a long one is
    // cheaper to gather and sort at the end.
    const isShort = limit <= SHORT_LIST_MAX;
    const consider = (row: number): void => {
      const worst = best.length === limit ? best[limit - 1] : undefined;
      if (isShort && worst !== undefined && compare(row, worst) > 0) return;
      if (!fits(row) || !isBehind(row)) return;
      if (!isShort) {
        best.push(row);
        return;
      }
      best.splice(insertionPoint(best, row, compare), 0, row);
      if (best.length > limit) best.pop();
    };
    if (options.among === null) for (let row = 0; row < options.rowCount; row++) consider(row);
    else for (const row of options.among) consider(row);
    return isShort ? best : best.sort(compare).slice(0, limit);
  }

  #grow(rows: number): void {
    const length = Math.max(rows, this.#venues.length * 2);
    const venues = new Uint8Array(length).fill(EMPTY);
    venues.set(this.#venues);
    this.#venues = venues;
    this.#statuses = grown(this.#statuses, new Uint8Array(length));
    this.#listed = grown(this.#listed, new Uint8Array(length));
    const columns = emptyColumns(length);
    for (const key of SORT_KEYS) columns[key].set(this.#values[key]);
    this.#values = columns;
  }
}

function grown(from: Uint8Array, to: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  to.set(from);
  return to;
}

function emptyColumns(length: number): Record<SortKey, Float64Array> {
  const column = () => new Float64Array(length).fill(Number.NaN);
  return {
    volume_24h: column(),
    liquidity: column(),
    open_interest: column(),
    updated_at: column(),
    resolution_date: column(),
    price_change_24h: column(),
  };
}

/** Unknown sorts behind every number. */
function known(value: number): number {
  return Number.isNaN(value) ? Number.NEGATIVE_INFINITY : value;
}

/** Where `row` belongs in rows that are in order. */
function insertionPoint(rows: readonly number[], row: number, compare: (a: number, b: number) => number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(row, rows[middle] ?? 0) < 0) high = middle;
    else low = middle + 1;
  }
  return low;
}
