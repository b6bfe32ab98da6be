import type { BoardMarket, CategorySummary, EventQuery, MarketQuery } from "../../../board/index.ts";
import { AppError, invalidValue } from "../../../domain/errors.ts";
import type { MarketListing, MarketStatus, VenueId } from "../../../domain/market.ts";
import { formatMarketRef } from "../../../domain/market-name.ts";
import type { OrderBook } from "../../../domain/order-book.ts";
import type { TradePage } from "../../../ingest/index.ts";
import { createSingleFlightCache } from "../../../lib/single-flight-cache.ts";
import type { HistoryRange, ListingDetails } from "../../../ports/venue.ts";
import type { MarketWideTrend, PastPrices, PriceHistory, TradePosition } from "../../../storage/index.ts";
import type { Matching } from "../matching/index.ts";
import type { MarketDependencies } from "../ports.ts";
import { createEventGroup, type EventGroup, type EventLink, linkEvents, listEvents } from "./events.ts";
import { createMarketFinder } from "./market-finder.ts";
import type { MarketLookups } from "./present.ts";
import type { BookReading } from "./present-market-data.ts";
import type { Period, STATUS_FILTERS } from "./schema.ts";
import { computeSentiment, type Sentiment } from "./sentiment.ts";

const TREND_CACHE_MS = 60_000;
/** Each history is read from the store at most once in this time. Failed reads are not cached. */
const HISTORY_CACHE_MS = 1_000;
const HISTORIES_MAX = 500;
const NO_IDS: Readonly<Record<string, string>> = {};
const LISTED_STATUSES: readonly MarketStatus[] = ["active", "closed", "determined", "finalized"];

export interface MarketsDependencies extends Pick<MarketDependencies, "board" | "clock" | "venues" | "estimateOf"> {
  /** Fetches a market from its venue and adds it to the board. Returns false if the venue does not have it. */
  readonly fetchMarket: (venue: VenueId, marketId: string) => Promise<boolean>;
  readonly pastPrices: PastPrices;
  readonly readTrend: () => Promise<MarketWideTrend>;
  readonly books: {
    readOrLast(market: BoardMarket): Promise<{ readonly book: OrderBook | null; readonly isStale: boolean }>;
  };
  readonly trades: { read(market: BoardMarket, after: TradePosition | null, limit: number): Promise<TradePage> };
  /** Returns the venue-specific data of a market that is public. */
  readonly detailsOf: (listing: MarketListing) => ListingDetails | null;
  /** The same markets and events at other venues. */
  readonly matches: Pick<Matching, "alsoOnOf" | "eventPairsOf">;
}

/** The API parameters `source` and `platform` are aliases. */
interface VenueFilter {
  readonly source?: VenueId;
  readonly platform?: VenueId;
}

interface ListRequest extends VenueFilter, Pick<MarketQuery, "sort" | "limit" | "isReversed"> {
  readonly query?: string;
  readonly category?: string;
  readonly status: (typeof STATUS_FILTERS)[number];
}

export type MarketsService = ReturnType<typeof createMarketsService>;

/** Reads markets and events from the board, and fetches markets that are not on the board from their venue. */
export function createMarketsService(ports: MarketsDependencies) {
  const { board, clock } = ports;
  const getListedMarket = createMarketFinder(ports);
  const readHistory = createSingleFlightCache<PriceHistory>({
    maxAgeMsOf: () => HISTORY_CACHE_MS,
    entriesMax: HISTORIES_MAX,
    now: () => clock.monotonic(),
  });
  let trend: { readonly readAt: number; readonly value: MarketWideTrend } | null = null;

  const venuesOf = ({ source, platform }: VenueFilter): readonly VenueId[] => {
    if (source !== undefined && platform !== undefined && source !== platform) {
      const reason = "source and platform are aliases; send one of them, or the same value in both";
      throw invalidValue(["query", "platform"], reason, platform);
    }
    const venue = source ?? platform;
    return venue === undefined ? ports.venues : [venue];
  };

  /** Returns a market from the board; null if it is not on the board or has no price. */
  const findMarket = (venue: VenueId, marketId: string): BoardMarket | null => {
    const market = board.find(venue, marketId);
    return market !== null && market.yesPrice !== null ? market : null;
  };

  const lookups: MarketLookups = {
    venueIdsOf: (listing) => ports.detailsOf(listing)?.ids ?? NO_IDS,
    alsoOnOf: ports.matches.alsoOnOf,
    estimateOf: ports.estimateOf,
  };

  return {
    findMarket,
    lookups,

    /**
     * Returns a market from the board, or fetches it from its venue. It may have no price.
     *
     * @throws AppError `market_not_found`; VenueError if the venue request fails
     */
    getListedMarket,

    /**
     * Returns a market with a price from the board, or fetches it from its venue.
     *
     * @throws AppError `market_not_found`, or `venue_unavailable` if it has no price; VenueError if the venue request
     *   fails
     */
    async getMarket(venue: VenueId, marketId: string): Promise<BoardMarket> {
      const market = await getListedMarket(venue, marketId);
      // Not `market_not_found`: the market exists but has no price at present.
      if (market.yesPrice === null)
        throw new AppError("venue_unavailable", "The venue currently has no price for this market");
      return market;
    },

    /** @throws VenueError if the venue does not answer and no book of the last five minutes is in memory */
    async readOrderBook(market: BoardMarket): Promise<BookReading> {
      const { book, isStale } = await ports.books.readOrLast(market);
      return { bookType: ports.detailsOf(market.listing)?.bookType ?? "clob", book, isStale, readAt: clock.now() };
    },

    /** @throws VenueError if the venue does not answer and no trade of the page is stored */
    listTrades: (market: BoardMarket, after: TradePosition | null, limit: number): Promise<TradePage> =>
      ports.trades.read(market, after, limit),

    listCategories: (): CategorySummary[] =>
      board.summariseCategories(ports.venues).sort((a, b) => (b.volume24hUsd ?? -1) - (a.volume24hUsd ?? -1)),

    /** Returns one page of markets and `next`, the position of its last market; `next` is null on the last page. */
    listMarkets(request: ListRequest, after: MarketQuery["after"]) {
      const foundMarkets = board.list({
        venues: venuesOf(request),
        statuses: request.status === "all" ? LISTED_STATUSES : [request.status],
        category: request.category ?? null,
        text: request.query ?? null,
        sort: request.sort,
        isReversed: request.isReversed,
        limit: request.limit + 1,
        after,
      });
      const markets = foundMarkets.slice(0, request.limit);
      const last = markets.at(-1);
      const hasMore = foundMarkets.length > request.limit && last !== undefined;
      return { markets, next: hasMore ? board.position(last, request.sort) : null };
    },

    getHistory(market: BoardMarket, period: Period, maxPoints: number): Promise<PriceHistory> {
      const id = `${period}/${maxPoints}/${formatMarketRef(market.listing)}`;
      return readHistory(id, () => ports.pastPrices.read(market, period, maxPoints));
    },

    getHistoryRange(market: BoardMarket, range: HistoryRange): Promise<PriceHistory> {
      const id = `${range.fromMs}-${range.toMs}/${range.intervalMs}/${formatMarketRef(market.listing)}`;
      return readHistory(id, () => ports.pastPrices.readRange(market, range));
    },

    listEvents: (query: Omit<EventQuery, "venues"> & VenueFilter) =>
      listEvents(board, { ...query, venues: venuesOf(query) }),

    /** Returns one page of events and `next`, the position of its last event; `next` is null on the last page. */
    pageEvents(query: Omit<EventQuery, "venues" | "after"> & VenueFilter, after: EventQuery["after"]) {
      const found = listEvents(board, { ...query, venues: venuesOf(query), limit: query.limit + 1, after });
      const events = found.slice(0, query.limit);
      const last = events.at(-1);
      const hasMore = found.length > query.limit && last !== undefined;
      return { events, next: hasMore ? board.eventPosition(last.event.slug, query.order) : null };
    },

    /** @throws AppError `event_not_found` */
    getEvent(slug: string): EventGroup {
      const event = board.findEvent(slug);
      const group =
        event === null || !ports.venues.includes(event.listing.venue) ? null : createEventGroup(board, event);
      if (group === null) throw new AppError("event_not_found", "There is no such event");
      return group;
    },

    /** Returns the same event at other venues, most likely match first. */
    linkEvent: (slug: string): EventLink[] => linkEvents(board, slug, ports.matches.eventPairsOf(slug)),

    async getSentiment(): Promise<Sentiment> {
      const now = clock.monotonic();
      if (trend === null || now - trend.readAt > TREND_CACHE_MS)
        trend = { readAt: now, value: await ports.readTrend() };
      const venues = new Set(ports.venues);
      return computeSentiment(
        board.markets().filter((market) => venues.has(market.listing.venue)),
        trend.value,
      );
    },
  };
}
