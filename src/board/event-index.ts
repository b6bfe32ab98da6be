import { toCents } from "../domain/usd.ts";
import { copyInto } from "../lib/numbers.ts";
import { Bitmap } from "./bitmap.ts";
import type { MarketIndex } from "./market-index.ts";
import { type BoardEvent, isInCategory } from "./model.ts";
import { OrderedIndex, type OrderedPosition } from "./ordered-index.ts";

/** Weight of the largest price move in the trending rank: with 20, a move of 0.05 doubles the rank. */
const TRENDING_MOVE_WEIGHT = 20;
/** Maximum number of events with an outdated rank. Recomputing ranks in batches makes bursts of changes cheap. */
const STALE_EVENTS_MAX = 256;
const INITIAL_ROWS = 1_024;

export type EventOrder = "volume" | "trending";

/** open: has an active market. settled: all markets are finalized. closed: otherwise. */
export type EventStatus = "open" | "closed" | "settled";
export const EVENT_STATUSES: readonly EventStatus[] = ["open", "closed", "settled"];

export interface EventQuery {
  readonly venues: readonly string[];
  /** One of our categories or a venue's own, case-insensitive; null selects all categories. */
  readonly category: string | null;
  readonly featuredOnly: boolean;
  readonly text: string | null;
  readonly order: EventOrder;
  readonly limit: number;
  /** Open events by default. */
  readonly statuses?: readonly EventStatus[];
  /** Smallest 24-hour volume in USD; excludes events of unknown volume. */
  readonly volumeUsdMin?: number;
  /** Smallest number of markets that have a price. */
  readonly marketsMin?: number;
  /** Position of the last event of the previous page; null or absent for the first page. */
  readonly after?: OrderedPosition | null;
}

interface EventEntry {
  readonly number: number;
  readonly slug: string;
  event: BoardEvent | null;
  /** Status and number of the listed markets at the latest ranking. The status is null without listed markets. */
  status: EventStatus | null;
  marketCount: number;
  /** Number that no earlier state of this or another event has had. */
  revision: number;
  /** Rows of the event's markets, in the order they were added. */
  readonly rows: number[];
}

/**
 * Stores all events with the rows of their markets, and sorts the events that have a listed market by volume and by
 * trending rank. Ranks are recomputed before the next list, or if more than `STALE_EVENTS_MAX` events have changed.
 */
export class EventIndex {
  readonly #marketIndex: MarketIndex;
  readonly #bySlug = new Map<string, EventEntry>();
  readonly #entries: (EventEntry | null)[] = [];
  readonly #freeNumbers: number[] = [];
  /** Event number of each row; -1 for rows without an event. */
  #numberOfRow = new Int32Array(INITIAL_ROWS).fill(-1);
  /** Event number of each listed row; -1 for unlisted rows and for rows without an event. */
  #listedNumberOfRow = new Int32Array(INITIAL_ROWS).fill(-1);
  readonly #staleEntries = new Set<EventEntry>();
  #lastRevision = 0;
  readonly #orders: Readonly<Record<EventOrder, OrderedIndex>>;

  constructor(marketIndex: MarketIndex) {
    this.#marketIndex = marketIndex;
    const createIndex = () => new OrderedIndex((number) => this.#entries[number]?.slug ?? "");
    this.#orders = { volume: createIndex(), trending: createIndex() };
  }

  find(slug: string): BoardEvent | null {
    return this.#bySlug.get(slug)?.event ?? null;
  }

  /** Returns the event of the market in this row; null if the market has none, or if its event is not known. */
  eventOfRow(row: number): BoardEvent | null {
    return this.#entryOfRow(row)?.event ?? null;
  }

  *all(): Generator<BoardEvent> {
    for (const { event } of this.#bySlug.values()) if (event !== null) yield event;
  }

  rowsOf(slug: string): readonly number[] {
    return this.#bySlug.get(slug)?.rows ?? [];
  }

  /** Changes with the event of the market in this row and with each market of the event; 0 without an event. */
  revisionOf(row: number): number {
    return this.#entryOfRow(row)?.revision ?? 0;
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

  /** Removes a row from its event. Returns the slug and whether the event is empty; null if the row has no event. */
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
    this.#staleEntries.delete(entry);
    this.#bySlug.delete(slug);
    this.#entries[entry.number] = null;
    this.#freeNumbers.push(entry.number);
  }

  /** Marks the event's rank as outdated after the market in this row has changed. */
  onMarketChange(row: number): void {
    const entry = this.#entryOfRow(row);
    if (entry === null) return;
    this.#listedNumberOfRow[row] = this.#marketIndex.isListed(row) ? entry.number : -1;
    this.#markStale(entry);
  }

  /** Sorts both ordered indexes. Otherwise the first list of each order sorts its index. */
  prepare(): void {
    this.#rankStale();
    const slugs = [...this.#bySlug.keys()].sort();
    const numbers = slugs.map((slug) => this.#bySlug.get(slug)?.number ?? 0);
    for (const order of ["volume", "trending"] as const) this.#orders[order].prepare(numbers);
  }

  /**
   * Returns the first `query.limit` events after the position that match the query, in the requested order.
   *
   * @param wordRows  rows of the markets that contain each search word, rarest word first; null if there is no search.
   *   Every word must occur in a market of the event, but different words may occur in different markets.
   */
  select(query: EventQuery, wordRows: readonly Bitmap[] | null): BoardEvent[] {
    if (query.limit <= 0) return [];
    this.#rankStale();
    const candidates = wordRows === null ? null : this.#findWithEveryWord(wordRows);
    const venues = new Set(query.venues);
    const category = query.category?.toLowerCase() ?? null;
    const statuses = new Set<EventStatus | null>(query.statuses ?? ["open"]);
    const { marketsMin = 0, volumeUsdMin, after = null } = query;
    const matches = (number: number): boolean => {
      const entry = this.#entries[number];
      const listing = entry?.event?.listing;
      if (entry == null || listing === undefined || !venues.has(listing.venue)) return false;
      if (!statuses.has(entry.status) || entry.marketCount < marketsMin) return false;
      if (query.featuredOnly && !listing.featured) return false;
      if (volumeUsdMin !== undefined && (this.#orders.volume.value(number) ?? -1) < volumeUsdMin) return false;
      return category === null || isInCategory(listing.category, category);
    };
    const orderedIndex = this.#orders[query.order];
    const numbers: number[] = [];
    if (candidates?.isSparse === true) {
      candidates.forEach((number) => {
        if (matches(number) && (after === null || orderedIndex.isAfter(number, after))) numbers.push(number);
      });
      numbers.sort((a, b) => orderedIndex.compare(a, b)).splice(query.limit);
    } else {
      const isSortedByVolume = query.order === "volume" && volumeUsdMin !== undefined;
      orderedIndex.walk(after, (number) => {
        if (isSortedByVolume && (orderedIndex.value(number) ?? -1) < volumeUsdMin) return false;
        if ((candidates === null || candidates.has(number)) && matches(number)) numbers.push(number);
        return numbers.length < query.limit;
      });
    }
    return numbers.flatMap((number) => this.#entries[number]?.event ?? []);
  }

  /** Position of an event in an order, for keyset pagination; null if it is not in the index. */
  position(slug: string, order: EventOrder): OrderedPosition | null {
    const entry = this.#bySlug.get(slug);
    return entry === undefined ? null : { value: this.#orders[order].value(entry.number), id: slug };
  }

  /** Returns the numbers of the events in which each word occurs in at least one listed market. */
  #findWithEveryWord(wordRows: readonly Bitmap[]): Bitmap {
    const [rarestWordRows, ...otherWordRows] = wordRows;
    if (rarestWordRows === undefined) return new Bitmap();
    let eventNumbers = rarestWordRows.map(this.#listedNumberOfRow);
    for (const rows of otherWordRows) {
      if (eventNumbers.isSparse) {
        const remainingNumbers = new Bitmap();
        const containsWord = (row: number) => rows.has(row) && this.#marketIndex.isListed(row);
        eventNumbers.forEach((number) => {
          if (this.#entries[number]?.rows.some(containsWord) === true) remainingNumbers.add(number);
        });
        eventNumbers = remainingNumbers;
      } else eventNumbers = Bitmap.intersection([eventNumbers, rows.map(this.#listedNumberOfRow)]);
    }
    return eventNumbers;
  }

  #entryOf(slug: string): EventEntry {
    const existingEntry = this.#bySlug.get(slug);
    if (existingEntry !== undefined) return existingEntry;
    const number = this.#freeNumbers.pop() ?? this.#entries.length;
    const entry: EventEntry = { number, slug, event: null, status: null, marketCount: 0, revision: 0, rows: [] };
    this.#bySlug.set(slug, entry);
    this.#entries[number] = entry;
    return entry;
  }

  #entryOfRow(row: number): EventEntry | null {
    return this.#entries[this.#numberOfRow[row] ?? -1] ?? null;
  }

  #markStale(entry: EventEntry): void {
    this.#lastRevision += 1;
    entry.revision = this.#lastRevision;
    this.#staleEntries.add(entry);
    if (this.#staleEntries.size > STALE_EVENTS_MAX) this.#rankStale();
  }

  #rankStale(): void {
    for (const entry of this.#staleEntries) this.#rank(entry);
    this.#staleEntries.clear();
  }

  /**
   * Recomputes both ranks. Volume rank: sum of the listed markets' 24-hour volumes in USD, or -1 if none is known.
   * Trending rank: volume rank times (1 + `TRENDING_MOVE_WEIGHT` times the largest price move).
   */
  #rank(entry: EventEntry): void {
    const { number, event, rows } = entry;
    let marketCount = 0;
    let activeCount = 0;
    let finalizedCount = 0;
    let volume: number | null = null;
    let largestMove = 0;
    for (const row of rows) {
      const status = this.#marketIndex.statusOf(row);
      if (status === null) continue;
      marketCount += 1;
      if (status === "active") activeCount += 1;
      else if (status === "finalized") finalizedCount += 1;
      const marketVolume = this.#marketIndex.value(row, "volume_24h");
      if (marketVolume !== null) volume = (volume ?? 0) + marketVolume;
      largestMove = Math.max(largestMove, Math.abs(this.#marketIndex.value(row, "price_change_24h") ?? 0));
    }
    entry.marketCount = marketCount;
    entry.status =
      marketCount === 0 ? null : activeCount > 0 ? "open" : finalizedCount === marketCount ? "settled" : "closed";
    if (entry.status === null || event === null) {
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
    this.#numberOfRow = copyInto(new Int32Array(length).fill(-1), this.#numberOfRow);
    this.#listedNumberOfRow = copyInto(new Int32Array(length).fill(-1), this.#listedNumberOfRow);
  }
}
