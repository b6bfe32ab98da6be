import { MARKET_STATUSES } from "../../domain/market.ts";
import { type BoardMarket, SORT_KEYS, type SortKey } from "./model.ts";

const EMPTY = 255;
const ROWS_AT_FIRST = 1_024;

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
    const best: number[] = [];
    const sortValue = (row: number): number => values[row] ?? Number.NaN;
    const isBefore = (value: number, id: () => string, otherValue: number, otherId: () => string): boolean => {
      const a = Number.isNaN(value) ? Number.NEGATIVE_INFINITY : value;
      const b = Number.isNaN(otherValue) ? Number.NEGATIVE_INFINITY : otherValue;
      return a === b ? id() < otherId() : a > b;
    };
    const consider = (row: number): void => {
      const value = sortValue(row);
      const id = () => idOf(row);
      const worst = best[best.length - 1];
      if (best.length === limit && worst !== undefined && !isBefore(value, id, sortValue(worst), () => idOf(worst)))
        return;
      if (!fits(row)) return;
      if (after !== null && !isBefore(after.value ?? Number.NaN, () => after.id, value, id)) return;
      let low = 0;
      let high = best.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        const other = best[middle] ?? 0;
        if (isBefore(value, id, sortValue(other), () => idOf(other))) high = middle;
        else low = middle + 1;
      }
      best.splice(low, 0, row);
      if (best.length > limit) best.pop();
    };
    if (options.among === null) for (let row = 0; row < options.rowCount; row++) consider(row);
    else for (const row of options.among) consider(row);
    return best;
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
