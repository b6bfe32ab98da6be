import { isDeepStrictEqual } from "node:util";
import {
  type EventListing,
  type MarketListing,
  type MarketSnapshot,
  type MarketStatus,
  type Quote,
  type VenueId,
  yesPrice,
} from "../domain/market.ts";
import { formatMarketRef } from "../domain/market-name.ts";
import { isCrossed } from "../domain/order-book.ts";
import type { Trade } from "../domain/trade.ts";
import { EventIndex, type EventQuery } from "./event-index.ts";
import { MarketIndex } from "./market-index.ts";
import { isSameQuote, keepChildren, keepPreviousLastPrice, mergeActivity, removeCrossedBook } from "./merge.ts";
import {
  type BoardChange,
  type BoardEvent,
  type BoardMarket,
  type CategorySummary,
  eventSlug,
  eventSlugOf,
  type MarketFilter,
  type MarketObserver,
  type MarketQuery,
  priceChange24h,
  type QuestionMatch,
  type QuoteRejectionReason,
  type SortKey,
} from "./model.ts";
import type { OrderedPosition } from "./ordered-index.ts";
import { shareStructure } from "./structural-sharing.ts";
import { TextIndex } from "./text-index.ts";

const volumeOf = ({ activity }: BoardMarket): number => activity.volume24hUsd ?? 0;

/**
 * The current state of all markets of all venues, in memory. Reads, lists, sorts and searches need no database. Only
 * the ingest writes to it.
 */
export class MarketBoard {
  readonly #markets: (BoardMarket | null)[] = [];
  readonly #rowById = new Map<string, number>();
  readonly #freeRows: number[] = [];
  /** Board id of each used row. It is the string instance used as the key in `#rowById`, which saves a copy. */
  readonly #idsByRow: string[] = [];
  readonly #marketIndex = new MarketIndex((row) => this.#idsByRow[row] ?? "");
  readonly #textIndex: TextIndex | null;
  readonly #eventIndex = new EventIndex(this.#marketIndex);
  /** The latest listing of each venue. Listings reuse its equal parts to save memory. */
  readonly #lastListings = new Map<VenueId, MarketListing>();
  readonly #lastTrades = new Map<number, { readonly executedAt: number; readonly receivedAt: number }>();
  readonly #observers: MarketObserver[] = [];
  readonly #now: () => number;

  /**
   * @param now  current time in Unix milliseconds, used to detect timestamps in the future
   * @param options.isSearchable  whether queries may contain search text; without its text index the board needs less memory
   */
  constructor(now: () => number, { isSearchable = true }: { readonly isSearchable?: boolean } = {}) {
    this.#now = now;
    this.#textIndex = isSearchable ? new TextIndex() : null;
  }

  get size(): number {
    return this.#rowById.size;
  }

  find(venue: VenueId, marketId: string): BoardMarket | null {
    const row = this.#rowById.get(formatMarketRef({ venue, marketId }));
    return row === undefined ? null : (this.#markets[row] ?? null);
  }

  /** Whether `market` is the latest version of its market. */
  isCurrent(market: BoardMarket): boolean {
    return this.#markets[market.row] === market;
  }

  /**
   * Returns a number that changes with the market's event and with each market of the event, so that a result that was
   * computed from them can be kept; 0 if the market has no event.
   */
  eventRevisionOf({ row }: BoardMarket): number {
    return this.#eventIndex.revisionOf(row);
  }

  findEvent(slug: string): BoardEvent | null {
    return this.#eventIndex.find(slug);
  }

  /** Returns the event of a market; null if the market has none, or if its event is not on the board. */
  eventOf({ row, listing }: Pick<BoardMarket, "row" | "listing">): BoardEvent | null {
    if (this.#markets[row]?.listing === listing) return this.#eventIndex.eventOfRow(row);
    const slug = eventSlugOf(listing);
    return slug === null ? null : this.#eventIndex.find(slug);
  }

  /** All markets of an event, in the order they were first listed. */
  marketsOfEvent(slug: string): BoardMarket[] {
    return this.#eventIndex.rowsOf(slug).flatMap((row) => this.#markets[row] ?? []);
  }

  events(): IterableIterator<BoardEvent> {
    return this.#eventIndex.all();
  }

  *markets(): Generator<BoardMarket> {
    for (const market of this.#markets) if (market !== null) yield market;
  }

  /** Adds or updates an event. Returns the event as it is now; null if nothing changed. */
  applyEvent(update: EventListing): EventListing | null {
    const slug = eventSlug(update.venue, update.eventId);
    const current = this.#eventIndex.find(slug)?.listing;
    const event = keepChildren(update, current);
    if (current !== undefined && isDeepStrictEqual(current, event)) return null;
    const boardEvent = { slug, listing: event };
    this.#eventIndex.set(boardEvent);
    for (const row of this.#eventIndex.rowsOf(slug)) {
      if (current?.title !== event.title) this.#updateText(row);
      if (current?.category !== event.category) this.#updateCategory(row);
    }
    for (const observer of this.#observers) observer.onEvent?.(boardEvent);
    return event;
  }

  /**
   * Applies a polled market. Its quote is ignored if a streamed quote was received after the poll request was sent,
   * because a slow response must not overwrite newer data.
   *
   * @param requestedAt  when the poll request was sent, Unix milliseconds
   */
  apply(snapshot: MarketSnapshot, requestedAt: number): BoardChange {
    const { listing } = snapshot;
    const current = this.find(listing.venue, listing.marketId);
    const isPollStale = current !== null && this.#isReceivedAfter(current.quote.receivedAt, requestedAt);
    const polledQuote = keepPreviousLastPrice(removeCrossedBook(snapshot.quote), current?.quote);
    const quote = isPollStale ? current.quote : this.#withLastTrade(current, polledQuote, requestedAt);
    const listingChanged = current === null || !isDeepStrictEqual(current.listing, listing);
    const activity = mergeActivity(current?.activity, snapshot.activity);
    const market = this.#put(current, {
      listing: listingChanged ? this.#shareParts(listing, current?.listing) : current.listing,
      quote,
      activity,
      updatedAt: isPollStale ? current.updatedAt : quote.receivedAt,
    });
    return {
      market,
      isNew: current === null,
      listingChanged,
      quoteChanged:
        current === null ||
        !isSameQuote(current.quote, quote) ||
        current.activity.volumeTotalUsd !== activity.volumeTotalUsd,
      previous: current,
    };
  }

  /** Applies a streamed quote, which may be partial. Returns the change, or the reason if the quote is rejected. */
  applyQuote(
    venue: VenueId,
    marketId: string,
    changes: Partial<Omit<Quote, "receivedAt">>,
    receivedAt: number,
  ): BoardChange | QuoteRejectionReason {
    const current = this.find(venue, marketId);
    if (current === null) return "unknown_market";
    const eventAt = changes.eventAt ?? null;
    if (eventAt !== null && current.quote.eventAt !== null && eventAt < current.quote.eventAt) return "out_of_order";
    const quote: Quote = { ...current.quote, ...changes, eventAt, receivedAt };
    if (isCrossed(quote.bid, quote.ask)) return "crossed_book";
    const market = this.#put(current, {
      listing: current.listing,
      quote,
      activity: current.activity,
      updatedAt: Math.max(current.updatedAt, Math.min(eventAt ?? receivedAt, this.#now())),
    });
    return createQuoteChange(market, current, !isSameQuote(current.quote, quote));
  }

  /** Updates the last price unless a later trade is known. Returns the change, or null if nothing changed. */
  applyTrade(market: BoardMarket, trade: Trade): BoardChange | null {
    const current = this.#markets[market.row];
    const previousTradeAt = this.#lastTrades.get(market.row)?.executedAt ?? Number.NEGATIVE_INFINITY;
    if (current?.listing.marketId !== market.listing.marketId) return null;
    if (trade.executedAt < previousTradeAt) return null;
    const receivedAt = this.#now();
    // Clamp the time: otherwise a trade with a timestamp in the future would suppress all trades until that time.
    this.#lastTrades.set(market.row, { executedAt: Math.min(trade.executedAt, receivedAt), receivedAt });
    if (current.quote.lastPrice === trade.yesPrice) return null;
    const quote: Quote = { ...current.quote, lastPrice: trade.yesPrice };
    return createQuoteChange(this.#put(current, { ...current, quote }), current, true);
  }

  *rows(rows: Iterable<number>): IterableIterator<BoardMarket> {
    for (const row of rows) {
      const market = this.#markets[row];
      if (market !== null && market !== undefined) yield market;
    }
  }

  /** Sets fields that venues do not report: key in the store, price a day ago, 24-hour volume summed from trades. */
  annotate(
    market: BoardMarket,
    fields: { storeKey?: number; priceDayAgo?: number | null; volume24hUsd?: number | null },
  ): BoardMarket {
    const current = this.#markets[market.row];
    if (current?.listing.marketId !== market.listing.marketId) return market;
    return this.#put(current, {
      ...current,
      storeKey: fields.storeKey ?? current.storeKey,
      priceDayAgo: fields.priceDayAgo === undefined ? current.priceDayAgo : fields.priceDayAgo,
      activity:
        fields.volume24hUsd === undefined
          ? current.activity
          : { ...current.activity, volume24hUsd: fields.volume24hUsd },
    });
  }

  /**
   * Sets the edge by which `sort=edge` orders a market: the distance of our estimate from the price, at least 0. Null
   * without an estimate.
   */
  setEdge({ row, listing }: BoardMarket, edge: number | null): void {
    if (this.#markets[row]?.listing.marketId === listing.marketId) this.#marketIndex.setEdge(row, edge);
  }

  /** Adds a market loaded from the store. Call it only at start, before data is received from venues. */
  restore(snapshot: MarketSnapshot, storeKey: number): void {
    const { listing, activity } = snapshot;
    const quote = removeCrossedBook(snapshot.quote);
    const current = this.find(listing.venue, listing.marketId);
    const sharedListing = this.#shareParts(listing, current?.listing);
    this.#put(current, { listing: sharedListing, quote, activity, updatedAt: quote.receivedAt, storeKey });
  }

  /** Sets a market to its state on another board, with its annotations. */
  replicate(fields: Omit<BoardMarket, "row" | "yesPrice">): BoardMarket {
    const { listing } = fields;
    const current = this.find(listing.venue, listing.marketId);
    const isListed = current !== null && (current.listing === listing || isDeepStrictEqual(current.listing, listing));
    return this.#put(current, {
      ...fields,
      listing: isListed ? current.listing : this.#shareParts(listing, current?.listing),
    });
  }

  /** Reports all current markets to the observer, and then every change. */
  observe(observer: MarketObserver): void {
    for (const market of this.markets()) observer.onSet(market);
    this.#observers.push(observer);
  }

  /** Sorts all indexes. Otherwise the first list of each sort order sorts its index, which is slow. */
  prepareLists(): void {
    const ids = [...this.#rowById.keys()].sort();
    this.#marketIndex.prepare(ids.map((id) => this.#rowById.get(id) ?? 0));
    this.#eventIndex.prepare();
  }

  remove(market: BoardMarket): void {
    const { row } = market;
    if (!this.#rowById.delete(formatMarketRef(market.listing))) return;
    const event = this.#eventIndex.removeRow(row);
    if (event?.isEmpty === true) this.#eventIndex.delete(event.slug);
    this.#markets[row] = null;
    this.#textIndex?.delete(row);
    this.#marketIndex.delete(row);
    this.#idsByRow[row] = "";
    this.#lastTrades.delete(row);
    this.#freeRows.push(row);
    for (const observer of this.#observers) observer.onRemove(row);
  }

  /** Returns one page of the markets that match a query, in the requested order, without markets that have no price. */
  list(query: MarketQuery): BoardMarket[] {
    const { text, ...filters } = query;
    return this.#marketIndex
      .select({ ...filters, candidates: this.#findText(text) })
      .flatMap((row) => this.#markets[row] ?? []);
  }

  /**
   * Returns the row of every market that has a price and matches the filter, in ascending order. It creates no objects
   * per market, so it finds 300,000 rows in a few milliseconds. The next call overwrites the result.
   */
  findRows({ text, ...filters }: MarketFilter): Uint32Array {
    return this.#marketIndex.findRows({ ...filters, candidates: this.#findText(text) });
  }

  /**
   * Returns the markets that are most similar to a question, best first: only markets of these venues with this status
   * and a price. Markets of equal similarity are ordered by 24-hour volume.
   *
   * @returns  similarity in (0, 1]; 1 if title, outcome and event title contain exactly the words of the question
   */
  findByQuestion(
    question: string,
    filter: { readonly venues: readonly VenueId[]; readonly status: MarketStatus; readonly limit: number },
  ): QuestionMatch[] {
    const venues = new Set(filter.venues);
    const ranked = this.#requireTexts()
      .rank(question)
      .sort((a, b) => b.similarity - a.similarity);
    const best: QuestionMatch[] = [];
    for (const { row, similarity } of ranked) {
      if (best.length >= filter.limit && similarity < (best[filter.limit - 1]?.similarity ?? 0)) break;
      const market = this.#markets[row] ?? null;
      if (market === null || market.yesPrice === null) continue;
      if (!venues.has(market.listing.venue) || market.listing.status !== filter.status) continue;
      best.push({ market, similarity });
    }
    return best
      .sort((a, b) => b.similarity - a.similarity || volumeOf(b.market) - volumeOf(a.market))
      .slice(0, filter.limit);
  }

  /** Returns the events that match the query, in the requested order. */
  listEvents(query: EventQuery): BoardEvent[] {
    return this.#eventIndex.select(query, query.text === null ? null : this.#requireTexts().findEach(query.text));
  }

  /** Returns the number and the 24-hour volume of the venues' active markets by category, without empty categories. */
  summariseCategories(venues: readonly VenueId[]): CategorySummary[] {
    return this.#marketIndex.summariseCategories(venues);
  }

  /** Position of an event in an order, for keyset pagination. */
  eventPosition(slug: string, order: EventQuery["order"]): OrderedPosition | null {
    return this.#eventIndex.position(slug, order);
  }

  /** Position of a market in a sort order, for keyset pagination. */
  position({ row, listing }: BoardMarket, sort: SortKey): OrderedPosition {
    return { value: this.#marketIndex.value(row, sort), id: formatMarketRef(listing) };
  }

  #put(
    previous: BoardMarket | null,
    fields: Partial<BoardMarket> & Pick<BoardMarket, "listing" | "quote" | "activity" | "updatedAt">,
  ): BoardMarket {
    const row = previous?.row ?? this.#freeRows.pop() ?? this.#markets.length;
    const market: BoardMarket = {
      row,
      listing: fields.listing,
      quote: fields.quote,
      activity: fields.activity,
      yesPrice: yesPrice(fields.quote),
      updatedAt: fields.updatedAt,
      priceDayAgo: fields.priceDayAgo === undefined ? (previous?.priceDayAgo ?? null) : fields.priceDayAgo,
      storeKey: fields.storeKey ?? previous?.storeKey ?? null,
    };
    this.#markets[row] = market;
    if (previous?.listing !== fields.listing) this.#updateLookups(market, previous);
    this.#marketIndex.set(row, market, priceChange24h(market));
    this.#eventIndex.onMarketChange(row);
    for (const observer of this.#observers) observer.onSet(market);
    return market;
  }

  /** Updates the indexes by id, event, text and category after a listing has changed. */
  #updateLookups({ row, listing }: BoardMarket, previous: BoardMarket | null): void {
    if (previous === null) {
      const id = formatMarketRef(listing);
      this.#rowById.set(id, row);
      this.#idsByRow[row] = id;
    }
    const eventChanged = previous === null || previous.listing.eventId !== listing.eventId;
    if (eventChanged) {
      this.#eventIndex.removeRow(row);
      const slug = eventSlugOf(listing);
      if (slug !== null) this.#eventIndex.addRow(slug, row);
    }
    if (
      eventChanged ||
      previous.listing.title !== listing.title ||
      previous.listing.outcomeLabel !== listing.outcomeLabel
    )
      this.#updateText(row);
    if (eventChanged || previous.listing.category !== listing.category) this.#updateCategory(row);
  }

  /** Returns false if `receivedAt` is in the future, which occurs if our clock has been set back. */
  #isReceivedAfter(receivedAt: number, requestedAt: number): boolean {
    return receivedAt > requestedAt && receivedAt <= this.#now();
  }

  /** Returns the polled quote, with the current last price if a trade was received after the poll request was sent. */
  #withLastTrade(current: BoardMarket | null, quote: Quote, requestedAt: number): Quote {
    const trade = current === null ? undefined : this.#lastTrades.get(current.row);
    if (current === null || trade === undefined || !this.#isReceivedAfter(trade.receivedAt, requestedAt)) return quote;
    return { ...quote, lastPrice: current.quote.lastPrice };
  }

  /** Reuses equal parts of the market's previous listing, or else of the venue's latest listing, to save memory. */
  #shareParts(listing: MarketListing, current: MarketListing | undefined): MarketListing {
    const other = current ?? this.#lastListings.get(listing.venue);
    const sharedListing = other === undefined ? listing : shareStructure(listing, other);
    this.#lastListings.set(listing.venue, sharedListing);
    return sharedListing;
  }

  #findText(text: string | null) {
    return text === null ? null : this.#requireTexts().find(text);
  }

  #requireTexts(): TextIndex {
    if (this.#textIndex === null) throw new Error("This board is not searchable.");
    return this.#textIndex;
  }

  #updateText(row: number): void {
    const market = this.#markets[row];
    if (market == null) return;
    const { title, outcomeLabel } = market.listing;
    this.#textIndex?.set(row, `${title} ${outcomeLabel ?? ""} ${this.eventOf(market)?.listing.title ?? ""}`);
  }

  #updateCategory(row: number): void {
    const market = this.#markets[row];
    if (market != null)
      this.#marketIndex.setCategory(row, market.listing.category ?? this.eventOf(market)?.listing.category ?? null);
  }
}

function createQuoteChange(market: BoardMarket, previous: BoardMarket, quoteChanged: boolean): BoardChange {
  return { market, isNew: false, listingChanged: false, quoteChanged, previous };
}
