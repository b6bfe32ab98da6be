import { Bitmap } from "./bitmap.ts";
import type { MarketIndex } from "./market-index.ts";
import type { BoardEvent } from "./model.ts";
import { OrderedIndex } from "./ordered-index.ts";

/** How much a price move adds to an event's rank among the trending: a move of 0.05 doubles its volume's worth. */
const TRENDING_MOVE_WEIGHT = 20;
/** Events whose rank waits to be worked out again: a burst of changes to one event costs it once. */
const STALE_MAX = 256;
const ROWS_AT_FIRST = 1_024;

export type EventOrder = "volume" | "trending";

export interface EventQuery {
  readonly venues: readonly string[];
  /** In any case; null for all. */
  readonly category: string | null;
  readonly featuredOnly: boolean;
  readonly text: string | null;
  readonly order: EventOrder;
  readonly limit: number;
}

interface Entry {
  readonly number: number;
  readonly slug: string;
  event: BoardEvent | null;
  /** Rows of its markets, in the order of their first listing. */
  readonly rows: number[];
}

/**
 * Events, the rows of their markets, and the events with an open market in the orders a list may have. A rank follows
 * its markets' changes at the next list, or once a few hundred events have changed.
 */
export class EventIndex {
  readonly #columns: MarketIndex;
  readonly #bySlug = new Map<string, Entry>();
  readonly #entries: (Entry | null)[] = [];
  readonly #freeNumbers: number[] = [];
  /** Number of the event of each row, or -1. */
  #numberOfRow = new Int32Array(ROWS_AT_FIRST).fill(-1);
  /** The same for rows that lists show, -1 for others. */
  #shownNumberOfRow = new Int32Array(ROWS_AT_FIRST).fill(-1);
  readonly #stale = new Set<Entry>();
  readonly #orders: Readonly<Record<EventOrder, OrderedIndex>>;

  constructor(columns: MarketIndex) {
    this.#columns = columns;
    const order = () => new OrderedIndex((number) => this.#entries[number]?.slug ?? "");
    this.#orders = { volume: order(), trending: order() };
  }

  find(slug: string): BoardEvent | null {
    return this.#bySlug.get(slug)?.event ?? null;
  }

  *all(): Generator<BoardEvent> {
    for (const { event } of this.#bySlug.values()) if (event !== null) yield event;
  }

  rowsOf(slug: string): readonly number[] {
    return this.#bySlug.get(slug)?.rows ?? [];
  }

  set(event: BoardEvent): void {
    const entry = this.#entryOf(event.slug);
    entry.event = event;
    this.#noteStale(entry);
  }

  addRow(slug: string, row: number): void {
    const entry = this.#entryOf(slug);
    entry.rows.push(row);
    if (row >= this.#numberOfRow.length) this.#grow(row + 1);
    this.#numberOfRow[row] = entry.number;
    this.#noteStale(entry);
  }

  /** Takes a row out of its event. */
  removeRow(row: number): { readonly slug: string; readonly isEmpty: boolean } | null {
    const entry = this.#entryOfRow(row);
    if (entry === null) return null;
    entry.rows.splice(entry.rows.indexOf(row), 1);
    this.#numberOfRow[row] = -1;
    this.#shownNumberOfRow[row] = -1;
    this.#noteStale(entry);
    return { slug: entry.slug, isEmpty: entry.rows.length === 0 };
  }

  delete(slug: string): void {
    const entry = this.#bySlug.get(slug);
    if (entry === undefined) return;
    if (entry.rows.length > 0) throw new Error("an event with markets must stay");
    this.#orders.volume.delete(entry.number);
    this.#orders.trending.delete(entry.number);
    this.#stale.delete(entry);
    this.#bySlug.delete(slug);
    this.#entries[entry.number] = null;
    this.#freeNumbers.push(entry.number);
  }

  /** Something that ranks count may have changed about the market in this row. */
  noteChange(row: number): void {
    const entry = this.#entryOfRow(row);
    if (entry === null) return;
    this.#shownNumberOfRow[row] = this.#columns.isListed(row) ? entry.number : -1;
    this.#noteStale(entry);
  }

  /** Sorts what was only gathered so far, so that no first list has to. */
  prepare(): void {
    this.#rankStale();
    const slugs = [...this.#bySlug.keys()].sort();
    const numbers = slugs.map((slug) => this.#bySlug.get(slug)?.number ?? 0);
    for (const order of ["volume", "trending"] as const) this.#orders[order].prepare(numbers);
  }

  /**
   * Events with an open market that fit, best first.
   *
   * @param words  rows of the markets that have each word of a search, fewest first; null without a search. Each word
   *   must be had by a market of the event, not all by the same one.
   */
  best(query: EventQuery, words: readonly Bitmap[] | null): BoardEvent[] {
    if (query.limit <= 0) return [];
    this.#rankStale();
    const among = words === null ? null : this.#withEach(words);
    const venues = new Set(query.venues);
    const category = query.category?.toLowerCase() ?? null;
    const fits = (number: number): boolean => {
      const listing = this.#entries[number]?.event?.listing;
      if (listing === undefined || !venues.has(listing.venue) || (query.featuredOnly && !listing.featured))
        return false;
      return category === null || listing.category?.toLowerCase() === category;
    };
    const order = this.#orders[query.order];
    const best: number[] = [];
    if (among?.isSparse === true) {
      among.forEach((number) => {
        if (order.value(number) !== null && fits(number)) best.push(number);
      });
      best.sort((a, b) => order.compare(a, b)).splice(query.limit);
    } else {
      order.walk(null, (number) => {
        if ((among === null || among.has(number)) && fits(number)) best.push(number);
        return best.length < query.limit;
      });
    }
    return best.flatMap((number) => this.#entries[number]?.event ?? []);
  }

  /** Numbers of the events of which each word is had by a market that lists show. */
  #withEach(words: readonly Bitmap[]): Bitmap {
    const [rarest, ...others] = words;
    if (rarest === undefined) return new Bitmap();
    let found = rarest.mapped(this.#shownNumberOfRow);
    for (const having of others) {
      if (found.isSparse) {
        const left = new Bitmap();
        const isHad = (row: number) => having.has(row) && this.#columns.isListed(row);
        found.forEach((number) => {
          if (this.#entries[number]?.rows.some(isHad) === true) left.add(number);
        });
        found = left;
      } else found = Bitmap.intersection([found, having.mapped(this.#shownNumberOfRow)]);
    }
    return found;
  }

  #entryOf(slug: string): Entry {
    const known = this.#bySlug.get(slug);
    if (known !== undefined) return known;
    const number = this.#freeNumbers.pop() ?? this.#entries.length;
    const entry: Entry = { number, slug, event: null, rows: [] };
    this.#bySlug.set(slug, entry);
    this.#entries[number] = entry;
    return entry;
  }

  #entryOfRow(row: number): Entry | null {
    return this.#entries[this.#numberOfRow[row] ?? -1] ?? null;
  }

  #noteStale(entry: Entry): void {
    this.#stale.add(entry);
    if (this.#stale.size > STALE_MAX) this.#rankStale();
  }

  #rankStale(): void {
    for (const entry of this.#stale) this.#rank(entry);
    this.#stale.clear();
  }

  /** USD of 24 hours over its priced markets, -1 where none tells; times what the largest move adds when trending. */
  #rank({ number, event, rows }: Entry): void {
    const columns = this.#columns;
    let isOpen = false;
    let volume: number | null = null;
    let largestMove = 0;
    for (const row of rows) {
      if (!columns.isListed(row)) continue;
      isOpen ||= columns.isActive(row);
      const own = columns.value(row, "volume_24h");
      if (own !== null) volume = (volume ?? 0) + own;
      largestMove = Math.max(largestMove, Math.abs(columns.value(row, "price_change_24h") ?? 0));
    }
    if (!isOpen || event === null) {
      this.#orders.volume.delete(number);
      this.#orders.trending.delete(number);
      return;
    }
    const rank = volume === null ? -1 : toCents(volume);
    this.#orders.volume.set(number, rank);
    this.#orders.trending.set(number, rank * (1 + TRENDING_MOVE_WEIGHT * largestMove));
  }

  #grow(rows: number): void {
    const length = Math.max(rows, this.#numberOfRow.length * 2);
    this.#numberOfRow = grown(this.#numberOfRow, length);
    this.#shownNumberOfRow = grown(this.#shownNumberOfRow, length);
  }
}

function grown(from: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const to = new Int32Array(length).fill(-1);
  to.set(from);
  return to;
}

/** USD to the cent. */
export function toCents(usd: number): number {
  return Math.round(usd * 100) / 100;
}
