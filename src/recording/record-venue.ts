import { createHash } from "node:crypto";
import { EMPTY_QUOTE, type MarketSnapshot, type Quote } from "../domain/market.ts";
import { isCrossed, type OrderBook } from "../domain/order-book.ts";
import type { Trade } from "../domain/trade.ts";
import type { Clock } from "../ports/clock.ts";
import type { ListingPage, StreamMessage, VenueAdapter } from "../ports/venue.ts";
import type { Fact } from "./format.ts";

/**
 * Maximum number of markets whose latest facts are kept to detect changes. Above it, the kept facts are cleared and all
 * markets are recorded again.
 */
const MARKETS_MAX = 500_000;
/** Maximum number of trade ids that are kept so that a trade is not recorded twice. */
const TRADES_MAX = 200_000;

type FactQuote = Omit<Quote, "receivedAt">;

/** The latest recorded facts of a market, as digests or JSON text; an empty text before the first fact. */
interface RecordedMarket {
  listing: string;
  activity: string;
  book: string;
  quote: FactQuote | null;
  /** Time of the latest quote from the stream in Unix milliseconds; 0 before the first quote. */
  streamedAt: number;
}

export interface RecordingOptions {
  /** Name of the adapter, from which a replay chooses the protocol; not the venue's id in this deployment. */
  readonly venue: string;
  readonly clock: Clock;
  readonly append: (fact: Fact) => void;
}

/**
 * Wraps an adapter and records its data: changed listings, events, quotes, activity and order books. A trade is
 * recorded once, and again if its size has grown.
 */
export function recordVenue(adapter: VenueAdapter, options: RecordingOptions): VenueAdapter {
  const recorder = new FactRecorder(options);
  return {
    id: adapter.id,
    playMoney: adapter.playMoney,
    profile: adapter.profile,
    async *listOpenMarkets(signal) {
      for await (const page of adapter.listOpenMarkets(signal)) {
        recorder.recordPage(page);
        yield page;
      }
    },
    async getMarkets(listings, signal) {
      const page = await adapter.getMarkets(listings, signal);
      recorder.recordPage(page);
      return page;
    },
    async findMarket(marketId, signal) {
      const page = await adapter.findMarket(marketId, signal);
      if (page !== null) recorder.recordPage(page);
      return page;
    },
    async getBook(listing, signal) {
      const book = await adapter.getBook(listing, signal);
      if (book !== null) recorder.recordBook(listing.marketId, book);
      return book;
    },
    async listTrades(listing, sinceMs, limit, signal) {
      const trades = await adapter.listTrades(listing, sinceMs, limit, signal);
      recorder.recordTrades(listing.marketId, trades, options.clock.now());
      return trades;
    },
    getHistory: (listing, range, signal) => adapter.getHistory(listing, range, signal),
    detailsOf: (listing) => adapter.detailsOf(listing),
    openStream: (handlers) =>
      adapter.openStream({
        onUp: () => handlers.onUp(),
        onDown: (reason) => handlers.onDown(reason),
        onMessage(message) {
          recorder.recordMessage(message);
          handlers.onMessage(message);
        },
      }),
  };
}

/** Appends a fact for each item that differs from its latest recorded fact. */
class FactRecorder {
  readonly #venue: string;
  readonly #clock: Clock;
  readonly #append: (fact: Fact) => void;
  readonly #markets = new Map<string, RecordedMarket>();
  /** Digest of the latest recorded event, by event id. */
  readonly #eventDigests = new Map<string, string>();
  /** Largest recorded size of each trade, by market and trade id. */
  readonly #tradeSizes = new Map<string, number>();

  constructor({ venue, clock, append }: RecordingOptions) {
    this.#venue = venue;
    this.#clock = clock;
    this.#append = append;
  }

  recordPage(page: ListingPage): void {
    if (this.#eventDigests.size > MARKETS_MAX) this.#eventDigests.clear();
    if (this.#markets.size > MARKETS_MAX) this.#markets.clear();
    const at = page.markets[0]?.quote.receivedAt ?? this.#clock.now();
    for (const { venue: _, ...event } of page.events) {
      const eventDigest = digest(event);
      if (this.#eventDigests.get(event.eventId) === eventDigest) continue;
      this.#eventDigests.set(event.eventId, eventDigest);
      this.#append({ at, venue: this.#venue, kind: "event", event });
    }
    for (const snapshot of page.markets) this.#recordSnapshot(snapshot, page.requestedAt);
  }

  recordTrades(marketId: string, trades: readonly Trade[], at: number): void {
    if (!this.#markets.has(marketId)) return;
    const sizes = this.#tradeSizes;
    for (const trade of trades.toReversed()) {
      const key = `${marketId} ${trade.tradeId}`;
      if ((sizes.get(key) ?? 0) >= trade.size) continue;
      sizes.set(key, trade.size);
      if (sizes.size > TRADES_MAX) for (const oldest of [...sizes.keys().take(TRADES_MAX / 10)]) sizes.delete(oldest);
      this.#append({ at, venue: this.#venue, kind: "trade", marketId, trade });
    }
  }

  recordBook(marketId: string, { receivedAt: at, ...book }: OrderBook): void {
    const recordedMarket = this.#markets.get(marketId);
    if (recordedMarket === undefined || isCrossed(book.bids[0]?.price ?? null, book.asks[0]?.price ?? null)) return;
    const mergedBook = { ...book, bids: mergeLevels(book.bids), asks: mergeLevels(book.asks) };
    const bookDigest = digest([mergedBook.bids, mergedBook.asks, mergedBook.lastPrice]);
    // If a quote with other best prices was recorded after the book, an unchanged book is recorded again, because the
    // latest fact defines the best prices in a replay.
    if (recordedMarket.book !== bookDigest || !hasBestPrices(recordedMarket.quote, mergedBook)) {
      this.#append({ at, venue: this.#venue, kind: "book", marketId, book: mergedBook });
    }
    recordedMarket.book = bookDigest;
  }

  recordMessage(message: StreamMessage): void {
    const { marketId, receivedAt: at } = message;
    const recordedMarket = this.#markets.get(marketId);
    if (recordedMarket === undefined) return;
    if (message.kind === "trade") this.recordTrades(marketId, [message.trade], at);
    if (message.kind !== "quote") return;
    recordedMarket.streamedAt = at;
    this.#recordQuote(marketId, recordedMarket, { ...(recordedMarket.quote ?? EMPTY_QUOTE), ...message.quote }, at);
  }

  #recordSnapshot({ listing, quote, activity }: MarketSnapshot, requestedAt: number): void {
    const { venue: _, ...market } = listing;
    const { marketId } = market;
    const { receivedAt: at, ...quoteFact } = quote;
    const newMarket: RecordedMarket = { listing: "", activity: "", book: "", quote: null, streamedAt: 0 };
    const recordedMarket = this.#markets.get(marketId) ?? newMarket;
    this.#markets.set(marketId, recordedMarket);
    const listingDigest = digest(market);
    if (recordedMarket.listing !== listingDigest) this.#append({ at, venue: this.#venue, kind: "market", market });
    recordedMarket.listing = listingDigest;
    // A page must not overwrite a quote that the stream delivered after the page was requested.
    if (requestedAt >= recordedMarket.streamedAt) this.#recordQuote(marketId, recordedMarket, quoteFact, at);
    const activityText = JSON.stringify(activity);
    if (recordedMarket.activity !== activityText) {
      this.#append({ at, venue: this.#venue, kind: "activity", marketId, activity });
    }
    recordedMarket.activity = activityText;
  }

  #recordQuote(marketId: string, recordedMarket: RecordedMarket, quote: FactQuote, at: number): void {
    if (isCrossed(quote.bid, quote.ask) || (recordedMarket.quote !== null && isSameQuote(recordedMarket.quote, quote)))
      return;
    recordedMarket.quote = quote;
    this.#append({ at, venue: this.#venue, kind: "quote", marketId, quote });
  }
}

const digest = (value: unknown): string => createHash("sha1").update(JSON.stringify(value)).digest("base64");

/** Without `eventAt`: a repeated price is not a change. */
const COMPARED_QUOTE_FIELDS = ["bid", "ask", "bidSize", "askSize", "lastPrice", "indicativePrice"] as const;

const isSameQuote = (a: FactQuote, b: FactQuote) => COMPARED_QUOTE_FIELDS.every((name) => a[name] === b[name]);

function hasBestPrices(quote: FactQuote | null, book: Pick<OrderBook, "bids" | "asks">): boolean {
  return quote?.bid === (book.bids[0]?.price ?? null) && quote.ask === (book.asks[0]?.price ?? null);
}

/** Merges levels with equal prices, because a recorded book contains each price once. */
function mergeLevels(levels: OrderBook["bids"]): OrderBook["bids"] {
  const sizes = new Map<number, number>();
  for (const { price, size } of levels) sizes.set(price, (sizes.get(price) ?? 0) + size);
  return [...sizes].map(([price, size]) => ({ price, size }));
}
