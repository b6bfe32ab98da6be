import { createHash } from "node:crypto";
import type { MarketSnapshot, Quote } from "../domain/market.ts";
import { isCrossed, type OrderBook } from "../domain/order-book.ts";
import type { Trade } from "../domain/trade.ts";
import type { Clock } from "../ports/clock.ts";
import type { ListingPage, StreamMessage, VenueAdapter } from "../ports/venue.ts";
import type { Fact } from "./format.ts";

/** Markets remembered for change detection. Above this number the memory is cleared and each market is recorded again. */
const MARKETS_MAX = 500_000;
/** Trades remembered to record each one once. */
const TRADES_MAX = 200_000;

type FactQuote = Omit<Quote, "receivedAt">;

/** The latest recorded facts of a market, as digests or JSON; empty if none. */
interface RecordedMarket {
  listing: string;
  activity: string;
  book: string;
  quote: FactQuote | null;
  /** When the stream last delivered a quote, Unix milliseconds. */
  streamedAt: number;
}

export interface RecordingOptions {
  /** Name of the adapter, not of the deployment's venue: the replay uses it to choose the protocol. */
  readonly venue: string;
  readonly clock: Clock;
  readonly append: (fact: Fact) => void;
}

/** Wraps an adapter and records what it delivers: listings, events, quotes, activity and books on change, trades once. */
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

/** Appends a fact for everything that differs from the latest recorded state. */
class FactRecorder {
  readonly #venue: string;
  readonly #clock: Clock;
  readonly #append: (fact: Fact) => void;
  readonly #markets = new Map<string, RecordedMarket>();
  /** Digests by event id. */
  readonly #events = new Map<string, string>();
  readonly #tradeKeys = new Set<string>();

  constructor({ venue, clock, append }: RecordingOptions) {
    this.#venue = venue;
    this.#clock = clock;
    this.#append = append;
  }

  recordPage(page: ListingPage): void {
    if (this.#events.size > MARKETS_MAX) this.#events.clear();
    if (this.#markets.size > MARKETS_MAX) this.#markets.clear();
    const at = page.markets[0]?.quote.receivedAt ?? this.#clock.now();
    for (const { venue: _, ...event } of page.events) {
      const eventDigest = digest(event);
      if (this.#events.get(event.eventId) === eventDigest) continue;
      this.#events.set(event.eventId, eventDigest);
      this.#append({ at, venue: this.#venue, kind: "event", event });
    }
    for (const snapshot of page.markets) this.#recordSnapshot(snapshot, page.requestedAt);
  }

  recordTrades(marketId: string, trades: readonly Trade[], at: number): void {
    if (!this.#markets.has(marketId)) return;
    const keys = this.#tradeKeys;
    for (const trade of trades.toReversed()) {
      const key = `${marketId} ${trade.tradeId}`;
      if (keys.has(key)) continue;
      keys.add(key);
      if (keys.size > TRADES_MAX) for (const oldest of keys.values().take(TRADES_MAX / 10)) keys.delete(oldest);
      this.#append({ at, venue: this.#venue, kind: "trade", marketId, trade });
    }
  }

  recordBook(marketId: string, { receivedAt: at, ...book }: OrderBook): void {
    const recorded = this.#markets.get(marketId);
    if (recorded === undefined || isCrossed(book.bids[0]?.price ?? null, book.asks[0]?.price ?? null)) return;
    const merged = { ...book, bids: mergeLevels(book.bids), asks: mergeLevels(book.asks) };
    const bookDigest = digest([merged.bids, merged.asks, merged.lastPrice]);
    // An unchanged book is recorded again after a different quote, because the later of the two defines the best prices.
    if (recorded.book !== bookDigest || !hasBestPrices(recorded.quote, merged)) {
      this.#append({ at, venue: this.#venue, kind: "book", marketId, book: merged });
    }
    recorded.book = bookDigest;
  }

  recordMessage(message: StreamMessage): void {
    const { marketId, receivedAt: at } = message;
    const recorded = this.#markets.get(marketId);
    if (recorded === undefined) return;
    if (message.kind === "trade") this.recordTrades(marketId, [message.trade], at);
    if (message.kind !== "quote") return;
    recorded.streamedAt = at;
    this.#recordQuote(marketId, recorded, { ...(recorded.quote ?? NO_QUOTE), ...message.quote }, at);
  }

  #recordSnapshot({ listing, quote, activity }: MarketSnapshot, requestedAt: number): void {
    const { venue: _, ...market } = listing;
    const { marketId } = market;
    const { receivedAt: at, ...quoteFact } = quote;
    const recorded = this.#markets.get(marketId) ?? { listing: "", activity: "", book: "", quote: null, streamedAt: 0 };
    this.#markets.set(marketId, recorded);
    const listingDigest = digest(market);
    if (recorded.listing !== listingDigest) this.#append({ at, venue: this.#venue, kind: "market", market });
    recorded.listing = listingDigest;
    // A page must not overwrite a quote that the stream delivered after the page was requested.
    if (requestedAt >= recorded.streamedAt) this.#recordQuote(marketId, recorded, quoteFact, at);
    const activityText = JSON.stringify(activity);
    if (recorded.activity !== activityText) {
      this.#append({ at, venue: this.#venue, kind: "activity", marketId, activity });
    }
    recorded.activity = activityText;
  }

  #recordQuote(marketId: string, recorded: RecordedMarket, quote: FactQuote, at: number): void {
    if (isCrossed(quote.bid, quote.ask) || (recorded.quote !== null && isSameQuote(recorded.quote, quote))) return;
    recorded.quote = quote;
    this.#append({ at, venue: this.#venue, kind: "quote", marketId, quote });
  }
}

const NO_QUOTE: FactQuote = {
  bid: null,
  ask: null,
  bidSize: null,
  askSize: null,
  lastPrice: null,
  indicativePrice: null,
  eventAt: null,
};

function digest(value: unknown): string {
  return createHash("sha1").update(JSON.stringify(value)).digest("base64");
}

/** Ignores `eventAt`: a repeated price is not a change. */
function isSameQuote(a: FactQuote, b: FactQuote): boolean {
  return (
    a.bid === b.bid &&
    a.ask === b.ask &&
    a.bidSize === b.bidSize &&
    a.askSize === b.askSize &&
    a.lastPrice === b.lastPrice &&
    a.indicativePrice === b.indicativePrice
  );
}

function hasBestPrices(quote: FactQuote | null, book: Pick<OrderBook, "bids" | "asks">): boolean {
  return quote?.bid === (book.bids[0]?.price ?? null) && quote.ask === (book.asks[0]?.price ?? null);
}

/** Adds up levels with an equal price: a recorded book has each price once. */
function mergeLevels(levels: OrderBook["bids"]): OrderBook["bids"] {
  const sizes = new Map<number, number>();
  for (const { price, size } of levels) sizes.set(price, (sizes.get(price) ?? 0) + size);
  return [...sizes].map(([price, size]) => ({ price, size }));
}
