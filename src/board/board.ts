import {
  type Activity,
  type EventListing,
  type MarketListing,
  type MarketSnapshot,
  type Quote,
  type VenueId,
  yesPrice,
} from "../domain/market.ts";
import { isCrossed } from "../domain/order-book.ts";
import type { Trade } from "../domain/trade.ts";
import { EventIndex, type EventQuery } from "./event-index.ts";
import { MarketIndex } from "./market-index.ts";
import {
  type BoardChange,
  type BoardEvent,
  type BoardMarket,
  eventSlug,
  type MarketQuery,
  priceChange24h,
  type QuoteRefusal,
  type SortKey,
} from "./model.ts";
import { isStructurallyEqual, shareStructure } from "./structural-sharing.ts";
import { TextIndex } from "./text-index.ts";

const boardId = (venue: VenueId, marketId: string) => `${venue}/${marketId}`;

/**
 * The present state of every market of every venue, in memory, ready to be read, listed, sorted and searched without a
 * database. Single writer: the ingest.
 */
export class MarketBoard {
  readonly #markets: (BoardMarket | null)[] = [];
  readonly #rowById = new Map<string, number>();
  readonly #freeRows: number[] = [];
  /** The id of each row in use, the same string as in `#rowById`. */
  readonly #ids: string[] = [];
  readonly #columns = new MarketIndex((row) => this.#ids[row] ?? "");
  readonly #text = new TextIndex();
  readonly #events = new EventIndex(this.#columns);
  /** The last new listing of each venue: the next one repeats much of it. */
  readonly #lastListings = new Map<VenueId, MarketListing>();
  readonly #lastTrades = new Map<number, { readonly executedAt: number; readonly heardAt: number }>();
  readonly #now: () => number;

  /** @param now Unix milliseconds; the present, for refusing times that lie in the future. */
  constructor(now: () => number) {
    this.#now = now;
  }

  get size(): number {
    return this.#rowById.size;
  }

  find(venue: VenueId, marketId: string): BoardMarket | null {
    const row = this.#rowById.get(boardId(venue, marketId));
    return row === undefined ? null : (this.#markets[row] ?? null);
  }

  findEvent(slug: string): BoardEvent | null {
    return this.#events.find(slug);
  }

  /** Every market of an event, in the order of their first listing. */
  marketsOfEvent(slug: string): BoardMarket[] {
    return this.#events.rowsOf(slug).flatMap((row) => this.#markets[row] ?? []);
  }

  events(): IterableIterator<BoardEvent> {
    return this.#events.all();
  }

  *markets(): Generator<BoardMarket> {
    for (const market of this.#markets) if (market !== null) yield market;
  }

  /** Takes over an event's facts; true when they are new or changed. */
  applyEvent(event: EventListing): boolean {
    const slug = eventSlug(event.venue, event.eventId);
    const known = this.#events.find(slug)?.listing;
    if (known !== undefined && isStructurallyEqual(known, event)) return false;
    this.#events.set({ slug, listing: event });
    for (const row of this.#events.rowsOf(slug)) {
      if (known?.title !== event.title) this.#index(row);
      if (known?.category !== event.category) this.#categorise(row);
    }
    return true;
  }

  /**
   * Takes over what a listing or a single read said. A quote older than a streamed one is left aside: a slow page must
   * not undo what the stream has told since.
   *
   * @param requestedAt when the request was sent; its answer cannot know of anything that is older than that only here
   */
  apply(snapshot: MarketSnapshot, requestedAt: number): BoardChange {
    const { listing } = snapshot;
    const known = this.find(listing.venue, listing.marketId);
    const isStale = known !== null && this.#isSince(known.quote.receivedAt, requestedAt);
    const polled = withKnownLast(uncrossed(snapshot.quote), known?.quote);
    const quote = isStale ? known.quote : this.#withLastTrade(known, polled, requestedAt);
    const listingChanged = known === null || !isStructurallyEqual(known.listing, listing);
    const activity = mergeActivity(known?.activity, snapshot.activity);
    const market = this.#put(known, {
      listing: listingChanged ? this.#shared(listing, known?.listing) : known.listing,
      quote,
      activity,
      updatedAt: isStale ? known.updatedAt : quote.receivedAt,
    });
    return {
      market,
      isNew: known === null,
      listingChanged,
      quoteChanged:
        known === null || !sameQuote(known.quote, quote) || known.activity.volumeTotalUsd !== activity.volumeTotalUsd,
      previousStatus: known?.listing.status ?? null,
    };
  }

  /** Takes over a streamed quote, whose parts may be missing; tells why when it is refused. */
  applyQuote(
    venue: VenueId,
    marketId: string,
    part: Partial<Omit<Quote, "receivedAt">>,
    receivedAt: number,
  ): BoardChange | QuoteRefusal {
    const known = this.find(venue, marketId);
    if (known === null) return "unknown_market";
    const eventAt = part.eventAt ?? null;
    if (eventAt !== null && known.quote.eventAt !== null && eventAt < known.quote.eventAt) return "out_of_order";
    const quote: Quote = { ...known.quote, ...part, eventAt, receivedAt };
    if (isCrossed(quote.bid, quote.ask)) return "crossed_book";
    const market = this.#put(known, {
      listing: known.listing,
      quote,
      activity: known.activity,
      updatedAt: Math.max(known.updatedAt, Math.min(eventAt ?? receivedAt, this.#now())),
    });
    return {
      market,
      isNew: false,
      listingChanged: false,
      quoteChanged: !sameQuote(known.quote, quote),
      previousStatus: known.listing.status,
    };
  }

  /** Takes over the price of a trade as the last one, unless a later trade is known; null when nothing changed. */
  applyTrade(market: BoardMarket, trade: Trade): BoardChange | null {
    const known = this.#markets[market.row];
    const before = this.#lastTrades.get(market.row)?.executedAt ?? Number.NEGATIVE_INFINITY;
    if (known === null || known === undefined || known.listing.marketId !== market.listing.marketId) return null;
    if (trade.executedAt < before) return null;
    const heardAt = this.#now();
    // A trade told with a time that lies ahead must not silence all that follow it.
    this.#lastTrades.set(market.row, { executedAt: Math.min(trade.executedAt, heardAt), heardAt });
    if (known.quote.lastPrice === trade.yesPrice) return null;
    const quote: Quote = { ...known.quote, lastPrice: trade.yesPrice };
    return {
      market: this.#put(known, { ...known, quote }),
      isNew: false,
      listingChanged: false,
      quoteChanged: true,
      previousStatus: known.listing.status,
    };
  }

  /** The markets in these rows, as they are now. */
  *rows(rows: Iterable<number>): IterableIterator<BoardMarket> {
    for (const row of rows) {
      const market = this.#markets[row];
      if (market !== null && market !== undefined) yield market;
    }
  }

  /** Ours to know: the key in the store, the price a day ago, a volume summed from the tape. */
  annotate(
    market: BoardMarket,
    facts: { storeKey?: number; priceDayAgo?: number | null; volume24hUsd?: number | null },
  ): BoardMarket {
    const known = this.#markets[market.row];
    if (known === null || known === undefined || known.listing.marketId !== market.listing.marketId) return market;
    return this.#put(known, {
      ...known,
      storeKey: facts.storeKey ?? known.storeKey,
      priceDayAgo: facts.priceDayAgo === undefined ? known.priceDayAgo : facts.priceDayAgo,
      activity:
        facts.volume24hUsd === undefined ? known.activity : { ...known.activity, volume24hUsd: facts.volume24hUsd },
    });
  }

  /** Puts back a market read from the store; used at start, before anything fresher is known. */
  restore(snapshot: MarketSnapshot, storeKey: number): void {
    const { listing, activity } = snapshot;
    const quote = uncrossed(snapshot.quote);
    const known = this.find(listing.venue, listing.marketId);
    const shared = this.#shared(listing, known?.listing);
    this.#put(known, { listing: shared, quote, activity, updatedAt: quote.receivedAt, storeKey });
  }

  /** Puts every order in place that lists are made from; without it the first list of each kind does, and takes long. */
  prepareLists(): void {
    const ids = [...this.#rowById.keys()].sort();
    this.#columns.prepare(ids.map((id) => this.#rowById.get(id) ?? 0));
    this.#events.prepare();
  }

  remove(market: BoardMarket): void {
    const { row } = market;
    const { venue, marketId } = market.listing;
    if (!this.#rowById.delete(boardId(venue, marketId))) return;
    const left = this.#events.removeRow(row);
    if (left?.isEmpty === true) this.#events.delete(left.slug);
    this.#markets[row] = null;
    this.#text.delete(row);
    this.#columns.clear(row);
    this.#ids[row] = "";
    this.#lastTrades.delete(row);
    this.#freeRows.push(row);
  }

  /** The markets that fit, best first; a market without a price is not listed. */
  list(query: MarketQuery): BoardMarket[] {
    const { text, ...others } = query;
    return this.#columns
      .best({ ...others, among: text === null ? null : this.#text.find(text) })
      .flatMap((row) => this.#markets[row] ?? []);
  }

  /** Events with an open market that fit, best first. */
  listEvents(query: EventQuery): BoardEvent[] {
    return this.#events.best(query, query.text === null ? null : this.#text.findEach(query.text));
  }

  /** Position of a market in a sort order, for continuing a list behind it. */
  position(market: BoardMarket, sort: SortKey): { value: number | null; id: string } {
    return { value: this.#columns.value(market.row, sort), id: boardId(market.listing.venue, market.listing.marketId) };
  }

  #put(
    known: BoardMarket | null,
    facts: Partial<BoardMarket> & Pick<BoardMarket, "listing" | "quote" | "activity" | "updatedAt">,
  ): BoardMarket {
    const row = known?.row ?? this.#freeRows.pop() ?? this.#markets.length;
    const market: BoardMarket = {
      row,
      listing: facts.listing,
      quote: facts.quote,
      activity: facts.activity,
      yesPrice: yesPrice(facts.quote),
      updatedAt: facts.updatedAt,
      priceDayAgo: facts.priceDayAgo === undefined ? (known?.priceDayAgo ?? null) : facts.priceDayAgo,
      storeKey: facts.storeKey ?? known?.storeKey ?? null,
    };
    this.#markets[row] = market;
    if (known?.listing !== facts.listing) this.#place(market, known);
    this.#columns.set(row, market, priceChange24h(market));
    this.#events.noteChange(row);
    return market;
  }

  /** Notes where a market with new facts is to be found: its id, its event, its words. */
  #place({ row, listing }: BoardMarket, known: BoardMarket | null): void {
    const { venue, marketId, eventId } = listing;
    if (known === null) {
      const id = boardId(venue, marketId);
      this.#rowById.set(id, row);
      this.#ids[row] = id;
    }
    const isOfOtherEvent = known === null || known.listing.eventId !== eventId;
    if (isOfOtherEvent) {
      this.#events.removeRow(row);
      if (eventId !== null) this.#events.addRow(eventSlug(venue, eventId), row);
    }
    if (isOfOtherEvent || known.listing.title !== listing.title || known.listing.outcomeLabel !== listing.outcomeLabel)
      this.#index(row);
    if (isOfOtherEvent || known.listing.category !== listing.category) this.#categorise(row);
  }

  /** Heard after a request was sent; a time that lies ahead of now (our clock was set back) proves nothing. */
  #isSince(heardAt: number, requestedAt: number): boolean {
    return heardAt > requestedAt && heardAt <= this.#now();
  }

  /** A trade that the stream told after the request was sent stays the last one. */
  #withLastTrade(known: BoardMarket | null, quote: Quote, requestedAt: number): Quote {
    const trade = known === null ? undefined : this.#lastTrades.get(known.row);
    if (known === null || trade === undefined || !this.#isSince(trade.heardAt, requestedAt)) return quote;
    return { ...quote, lastPrice: known.quote.lastPrice };
  }

  #shared(listing: MarketListing, known: MarketListing | undefined): MarketListing {
    const other = known ?? this.#lastListings.get(listing.venue);
    const shared = other === undefined ? listing : shareStructure(listing, other);
    this.#lastListings.set(listing.venue, shared);
    return shared;
  }

  #index(row: number): void {
    const listing = this.#markets[row]?.listing;
    if (listing === undefined) return;
    const event = this.#eventOf(row);
    this.#text.set(row, `${listing.title} ${listing.outcomeLabel ?? ""} ${event?.listing.title ?? ""}`);
  }

  #categorise(row: number): void {
    this.#columns.setCategory(
      row,
      this.#markets[row]?.listing.category ?? this.#eventOf(row)?.listing.category ?? null,
    );
  }

  #eventOf(row: number): BoardEvent | null {
    const listing = this.#markets[row]?.listing;
    return listing == null || listing.eventId === null
      ? null
      : this.#events.find(eventSlug(listing.venue, listing.eventId));
  }
}

/** A book read in the middle of a change is no book: both sides are unknown until the next read. */
function uncrossed(quote: Quote): Quote {
  return isCrossed(quote.bid, quote.ask) ? { ...quote, bid: null, ask: null, bidSize: null, askSize: null } : quote;
}

/** A listing that does not tell the last trade does not undo it. */
function withKnownLast(quote: Quote, known: Quote | undefined): Quote {
  return quote.lastPrice === null && known !== undefined && known.lastPrice !== null
    ? { ...quote, lastPrice: known.lastPrice }
    : quote;
}

function sameQuote(a: Quote, b: Quote): boolean {
  return (
    a.bid === b.bid &&
    a.ask === b.ask &&
    a.lastPrice === b.lastPrice &&
    a.indicativePrice === b.indicativePrice &&
    a.bidSize === b.bidSize &&
    a.askSize === b.askSize
  );
}

/** A figure that a venue leaves out of one answer is not forgotten. */
function mergeActivity(known: Activity | undefined, next: Activity): Activity {
  if (known === undefined) return next;
  return {
    volume24hUsd: next.volume24hUsd ?? known.volume24hUsd,
    volumeTotalUsd: next.volumeTotalUsd ?? known.volumeTotalUsd,
    liquidityUsd: next.liquidityUsd ?? known.liquidityUsd,
    openInterestUsd: next.openInterestUsd ?? known.openInterestUsd,
  };
}
