import { Bitmap } from "./bitmap.ts";
import type { MarketIndex } from "./market-index.ts";
import type { BoardEvent } from "./model.ts";
import { OrderedIndex } from "./ordered-index.ts";

/** Weight of the largest price move in the trending rank: with 20, a move of 0.05 doubles the rank. */
const TRENDING_MOVE_WEIGHT = 20;
/** Changed events after which ranks are recomputed. Batching makes a burst of changes to one event cheap. */
const STALE_MAX = 256;
const INITIAL_ROWS = 1_024;

export type EventOrder = "volume" | "trending";

export interface EventQuery {
  readonly venues: readonly string[];
  /** Case-insensitive; null for all. */
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
  /** Rows of the event's markets, in the order they were added. */
  readonly rows: number[];
}

/**
 * Events, the rows of their markets, and one ordered index per sort order of the events with an active market. The rank
 * of a changed event is recomputed before the next list, or once `STALE_MAX` events have changed.
 */
export class EventIndex {
  readonly #marketIndex: MarketIndex;
  readonly #bySlug = new Map<string, Entry>();
  readonly #entries: (Entry | null)[] = [];
  readonly #freeNumbers: number[] = [];
  /** Event number of each row; -1 for rows without an event. */
  #numberOfRow = new Int32Array(INITIAL_ROWS).fill(-1);
  /** The same for listed rows only; -1 for all others. */
  #listedNumberOfRow = new Int32Array(INITIAL_ROWS).fill(-1);
  readonly #stale = new Set<Entry>();
  readonly #orders: Readonly<Record<EventOrder, OrderedIndex>>;

  constructor(marketIndex: MarketIndex) {
    this.#marketIndex = marketIndex;
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
    this.#markStale(entry);
  }

  addRow(slug: string, row: number): void {
    const entry = this.#entryOf(slug);
    entry.rows.push(row);
    if (row >= this.#numberOfRow.length) this.#grow(row + 1);
    this.#numberOfRow[row] = entry.number;
    this.#markStale(entry);
  }

  /** Removes a row from its event; returns null if it has none. */
  removeRow(row: number): { readonly slug: string; readonly isEmpty: boolean } | null {
    const entry = this.#entryOfRow(row);
    if (entry === null) return null;
    entry.rows.splice(entry.rows.indexOf(row), 1);
    this.#numberOfRow[row] = -1;
    this.#listedNumberOfRow[row] = -1;
    this.#markStale(entry);
    return { slug: entry.slug, isEmpty: entry.rows.length === 0 };
  }

  delete(slug: string): void {
    const entry = this.#bySlug.get(slug);
    if (entry === undefined) return;
    if (entry.rows.length > 0) throw new Error("An event with markets cannot be deleted");
    this.#orders.volume.delete(entry.number);
    this.#orders.trending.delete(entry.number);
    this.#stale.delete(entry);
    this.#bySlug.delete(slug);
    this.#entries[entry.number] = null;
    this.#freeNumbers.push(entry.number);
  }

  /** Updates the event after a change of the market in this row. */
  onMarketChange(row: number): void {
    const entry = this.#entryOfRow(row);
    if (entry === null) return;
    this.#listedNumberOfRow[row] = this.#marketIndex.isListed(row) ? entry.number : -1;
    this.#markStale(entry);
  }

  /** Sorts both ordered indexes, which the first list of each order would otherwise do. */
  prepare(): void {
    this.#rankStale();
    const slugs = [...this.#bySlug.keys()].sort();
    const numbers = slugs.map((slug) => this.#bySlug.get(slug)?.number ?? 0);
    for (const order of ["volume", "trending"] as const) this.#orders[order].prepare(numbers);
  }

  /**
   * The first events in the requested order that match the query and have an active market.
   *
   * @param wordRows  for each search word the rows of the markets that contain it, rarest word first; null without a
   *   search. Every word must occur in a market of the event, but not all words in the same market.
   */
  select(query: EventQuery, wordRows: readonly Bitmap[] | null): BoardEvent[] {
    if (query.limit <= 0) return [];
    this.#rankStale();
    const candidates = wordRows === null ? null : this.#withEveryWord(wordRows);
    const venues = new Set(query.venues);
    const category = query.category?.toLowerCase() ?? null;
    const matches = (number: number): boolean => {
      const listing = this.#entries[number]?.event?.listing;
      if (listing === undefined || !venues.has(listing.venue) || (query.featuredOnly && !listing.featured))
        return false;
      return category === null || listing.category?.toLowerCase() === category;
    };
    const order = this.#orders[query.order];
    const numbers: number[] = [];
    if (candidates?.isSparse === true) {
      candidates.forEach((number) => {
        if (order.value(number) !== null && matches(number)) numbers.push(number);
      });
      numbers.sort((a, b) => order.compare(a, b)).splice(query.limit);
    } else {
      order.walk(null, (number) => {
        if ((candidates === null || candidates.has(number)) && matches(number)) numbers.push(number);
        return numbers.length < query.limit;
      });
    }
    return numbers.flatMap((number) => this.#entries[number]?.event ?? []);
  }

  /** Numbers of the events in which every word occurs in at least one listed market. */
  #withEveryWord(wordRows: readonly Bitmap[]): Bitmap {
    const [rarest, ...others] = wordRows;
    if (rarest === undefined) return new Bitmap();
    let found = rarest.map(this.#listedNumberOfRow);
    for (const rows of others) {
      if (found.isSparse) {
        const remaining = new Bitmap();
        const containsWord = (row: number) => rows.has(row) && this.#marketIndex.isListed(row);
        found.forEach((number) => {
          if (this.#entries[number]?.rows.some(containsWord) === true) remaining.add(number);
        });
        found = remaining;
      } else found = Bitmap.intersection([found, rows.map(this.#listedNumberOfRow)]);
    }
    return found;
  }

  #entryOf(slug: string): Entry {
    const existing = this.#bySlug.get(slug);
    if (existing !== undefined) return existing;
    const number = this.#freeNumbers.pop() ?? this.#entries.length;
    const entry: Entry = { number, slug, event: null, rows: [] };
    this.#bySlug.set(slug, entry);
    this.#entries[number] = entry;
    return entry;
  }

  #entryOfRow(row: number): Entry | null {
    return this.#entries[this.#numberOfRow[row] ?? -1] ?? null;
  }

  #markStale(entry: Entry): void {
    this.#stale.add(entry);
    if (this.#stale.size > STALE_MAX) this.#rankStale();
  }

  #rankStale(): void {
    for (const entry of this.#stale) this.#rank(entry);
    this.#stale.clear();
  }

  /**
   * Volume rank: 24-hour volume in USD over the listed markets, or -1 if no market has one. The trending rank multiplies
   * it by 1 + `TRENDING_MOVE_WEIGHT` times the largest price move.
   */
  #rank({ number, event, rows }: Entry): void {
    let hasActiveMarket = false;
    let volume: number | null = null;
    let largestMove = 0;
    for (const row of rows) {
      if (!this.#marketIndex.isListed(row)) continue;
      hasActiveMarket ||= this.#marketIndex.isActive(row);
      const marketVolume = this.#marketIndex.value(row, "volume_24h");
      if (marketVolume !== null) volume = (volume ?? 0) + marketVolume;
      largestMove = Math.max(largestMove, Math.abs(this.#marketIndex.value(row, "price_change_24h") ?? 0));
    }
    if (!hasActiveMarket || event === null) {
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
    this.#numberOfRow = resized(this.#numberOfRow, length);
    this.#listedNumberOfRow = resized(this.#listedNumberOfRow, length);
  }
}

function resized(from: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const to = new Int32Array(length).fill(-1);
  to.set(from);
  return to;
}

/** Rounds USD to cents. */
export function toCents(usd: number): number {
  return Math.round(usd * 100) / 100;
}
