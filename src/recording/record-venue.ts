import { createHash } from "node:crypto";
import type { MarketSnapshot, Quote } from "../domain/market.ts";
import { isCrossed, type OrderBook } from "../domain/order-book.ts";
import type { Trade } from "../domain/trade.ts";
import type { Clock } from "../ports/clock.ts";
import type { ListingPage, StreamMessage, VenueAdapter } from "../ports/venue.ts";
import type { Fact } from "./format.ts";

/** Markets whose last facts are remembered; beyond it all is forgotten, and told again when it comes again. */
const MARKETS_MAX = 500_000;
/** Trades remembered so that a tape read twice is written once. */
const TRADES_MAX = 200_000;

type FactQuote = Omit<Quote, "receivedAt">;

interface Told {
  listing: string;
  activity: string;
  book: string;
  quote: FactQuote | null;
  /** When the stream last told this market's quote. */
  streamedAt: number;
}

export interface RecordingOptions {
  /** The adapter's name: tells a replay whose protocol to speak, whatever this deployment calls the venue. */
  readonly venue: string;
  readonly clock: Clock;
  readonly append: (fact: Fact) => void;
}

/**
 * The same adapter, and everything it delivers goes to the recording as well: listings and events when they change,
 * quotes, activity and books when they differ from the last ones, trades once.
 */
export function recordVenue(adapter: VenueAdapter, { venue, clock, append }: RecordingOptions): VenueAdapter {
  const markets = new Map<string, Told>();
  const events = new Map<string, string>();
  const trades = new Set<string>();

  const takePage = (page: ListingPage) => {
    if (events.size > MARKETS_MAX) events.clear();
    if (markets.size > MARKETS_MAX) markets.clear();
    const at = page.markets[0]?.quote.receivedAt ?? clock.now();
    for (const { venue: _, ...event } of page.events) {
      const text = digest(event);
      if (events.get(event.eventId) === text) continue;
      events.set(event.eventId, text);
      append({ at, venue, kind: "event", event });
    }
    for (const snapshot of page.markets) takeSnapshot(snapshot, page.requestedAt);
  };

  const takeSnapshot = ({ listing, quote, activity }: MarketSnapshot, requestedAt: number) => {
    const { venue: _, ...market } = listing;
    const { marketId } = market;
    const { receivedAt: at, ...shown } = quote;
    const told = markets.get(marketId) ?? { listing: "", activity: "", book: "", quote: null, streamedAt: 0 };
    markets.set(marketId, told);
    const listingText = digest(market);
    if (told.listing !== listingText) append({ at, venue, kind: "market", market });
    told.listing = listingText;
    // A slow page must not undo what the stream has told since it was asked for.
    if (requestedAt >= told.streamedAt) takeQuote(marketId, told, shown, at);
    const activityText = JSON.stringify(activity);
    if (told.activity !== activityText) append({ at, venue, kind: "activity", marketId, activity });
    told.activity = activityText;
  };

  const takeQuote = (marketId: string, told: Told, quote: FactQuote, at: number) => {
    if (isCrossed(quote.bid, quote.ask) || (told.quote !== null && isSameQuote(told.quote, quote))) return;
    told.quote = quote;
    append({ at, venue, kind: "quote", marketId, quote });
  };

  const takeTrades = (marketId: string, found: readonly Trade[], at: number) => {
    if (!markets.has(marketId)) return;
    for (const trade of found.toReversed()) {
      const key = `${marketId} ${trade.tradeId}`;
      if (trades.has(key)) continue;
      trades.add(key);
      if (trades.size > TRADES_MAX) for (const oldest of trades.values().take(TRADES_MAX / 10)) trades.delete(oldest);
      append({ at, venue, kind: "trade", marketId, trade });
    }
  };

  const takeBook = (marketId: string, { receivedAt: at, ...book }: OrderBook) => {
    const told = markets.get(marketId);
    if (told === undefined || isCrossed(book.bids[0]?.price ?? null, book.asks[0]?.price ?? null)) return;
    const merged = { ...book, bids: mergeLevels(book.bids), asks: mergeLevels(book.asks) };
    const text = digest([merged.bids, merged.asks, merged.lastPrice]);
    // A book counts as new also when a quote has come since: the later of the two says what the top is.
    if (told.book !== text || !isTopOf(told.quote, merged)) append({ at, venue, kind: "book", marketId, book: merged });
    told.book = text;
  };

  const takeMessage = (message: StreamMessage) => {
    const { marketId, receivedAt: at } = message;
    const told = markets.get(marketId);
    if (told === undefined) return;
    if (message.kind === "trade") takeTrades(marketId, [message.trade], at);
    if (message.kind !== "quote") return;
    told.streamedAt = at;
    takeQuote(marketId, told, { ...(told.quote ?? NO_QUOTE), ...message.quote }, at);
  };

  return {
    id: adapter.id,
    playMoney: adapter.playMoney,
    profile: adapter.profile,
    async *listOpenMarkets(signal) {
      for await (const page of adapter.listOpenMarkets(signal)) {
        takePage(page);
        yield page;
      }
    },
    async getMarkets(listings, signal) {
      const page = await adapter.getMarkets(listings, signal);
      takePage(page);
      return page;
    },
    async findMarket(marketId, signal) {
      const page = await adapter.findMarket(marketId, signal);
      if (page !== null) takePage(page);
      return page;
    },
    async getBook(listing, signal) {
      const book = await adapter.getBook(listing, signal);
      if (book !== null) takeBook(listing.marketId, book);
      return book;
    },
    async listTrades(listing, sinceMs, limit, signal) {
      const found = await adapter.listTrades(listing, sinceMs, limit, signal);
      takeTrades(listing.marketId, found, clock.now());
      return found;
    },
    getHistory: (listing, range, signal) => adapter.getHistory(listing, range, signal),
    openStream: (handlers) =>
      adapter.openStream({
        onUp: () => handlers.onUp(),
        onDown: (reason) => handlers.onDown(reason),
        onMessage(message) {
          takeMessage(message);
          handlers.onMessage(message);
        },
      }),
  };
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

/** When it was true does not matter: a price told again is the same price. */
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

function isTopOf(quote: FactQuote | null, book: Pick<OrderBook, "bids" | "asks">): boolean {
  return quote?.bid === (book.bids[0]?.price ?? null) && quote.ask === (book.asks[0]?.price ?? null);
}

/** Venues may send one price twice; in a recording each price stands once, with all its contracts. */
function mergeLevels(levels: OrderBook["bids"]): OrderBook["bids"] {
  const sizes = new Map<number, number>();
  for (const { price, size } of levels) sizes.set(price, (sizes.get(price) ?? 0) + size);
  return [...sizes].map(([price, size]) => ({ price, size }));
}
