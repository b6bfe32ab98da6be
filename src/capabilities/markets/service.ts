import type { BoardMarket, EventQuery, MarketBoard, MarketQuery } from "../../board/index.ts";
import { AppError, InvalidRequestError } from "../../domain/errors.ts";
import type { MarketStatus, VenueId } from "../../domain/market.ts";
import type { Clock } from "../../ports/clock.ts";
import type { HistoryReading, MarketWideTrend, PastPrices } from "../../storage/index.ts";
import { createEventGroup, type EventGroup, listEvents } from "./events.ts";
import type { Period, STATUS_FILTERS } from "./schema.ts";
import { computeSentiment, type Sentiment } from "./sentiment.ts";

const MARKET_ID_LENGTH_MAX = 512;
/** If the venue does not have a market, it is not queried for that market again for this time. */
const NOT_FOUND_CACHE_MS = 30_000;
const NOT_FOUND_ENTRIES_MAX = 10_000;
const TREND_CACHE_MS = 60_000;
/** A history is read from the store at most once in this time, however many clients request it. */
const HISTORY_CACHE_MS = 1_000;
const HISTORY_CACHE_ENTRIES_MAX = 500;
const LISTED_STATUSES: readonly MarketStatus[] = ["active", "closed", "determined", "finalized"];

export interface MarketsPorts {
  readonly board: MarketBoard;
  readonly clock: Clock;
  /** Public ids of the venues that clients can query. */
  readonly venues: readonly VenueId[];
  /** Fetches a market from its venue and adds it to the board. Returns false if the venue does not have it. */
  readonly fetchMarket: (venue: VenueId, marketId: string) => Promise<boolean>;
  readonly pastPrices: PastPrices;
  readonly readTrend: () => Promise<MarketWideTrend>;
}

/** The API parameters `source` and `platform` are aliases. */
interface VenueFilter {
  readonly source?: VenueId;
  readonly platform?: VenueId;
}

interface ListRequest extends VenueFilter, Pick<MarketQuery, "sort" | "limit"> {
  readonly query?: string;
  readonly category?: string;
  readonly status: (typeof STATUS_FILTERS)[number];
}

export type MarketsService = ReturnType<typeof createMarketsService>;

/** Reads markets and events from the board, and fetches markets that are not on the board from their venue. */
export function createMarketsService(ports: MarketsPorts) {
  const { board, clock } = ports;
  const notFoundUntil = new Map<string, number>();
  const pendingLookUps = new Map<string, Promise<boolean>>();
  const histories = new Map<string, { readonly reading: Promise<HistoryReading>; readAt: number | null }>();
  let trend: { readonly readAt: number; readonly value: MarketWideTrend } | null = null;

  const lookUp = (venue: VenueId, marketId: string): Promise<boolean> => {
    const id = `${venue}/${marketId}`;
    const pendingLookUp = pendingLookUps.get(id);
    if (pendingLookUp !== undefined) return pendingLookUp;
    const newLookUp = ports.fetchMarket(venue, marketId).finally(() => pendingLookUps.delete(id));
    pendingLookUps.set(id, newLookUp);
    return newLookUp;
  };

  const venuesOf = ({ source, platform }: VenueFilter): readonly VenueId[] => {
    if (source !== undefined && platform !== undefined && source !== platform) {
      const msg = "Value error, source and platform are aliases; send one of them, or the same value in both";
      throw new InvalidRequestError([
        { type: "value_error", loc: ["query", "platform"], msg, input: platform, ctx: { error: {} } },
      ]);
    }
    const venue = source ?? platform;
    return venue === undefined ? ports.venues : [venue];
  };

  /** Returns a market of the board, or null if it is not on the board or has no price. */
  const findMarket = (venue: VenueId, marketId: string): BoardMarket | null => {
    const market = board.find(venue, marketId);
    return market !== null && market.yesPrice !== null ? market : null;
  };

  return {
    findMarket,

    /**
     * Returns a market from the board, or fetches it from its venue.
     *
     * @throws AppError `market_not_found`, or `venue_unavailable` if it has no price; VenueError if the venue request
     *   fails
     */
    async getMarket(venue: VenueId, marketId: string): Promise<BoardMarket> {
      const createNotFoundError = () => new AppError("market_not_found", "There is no such market on this venue");
      if (marketId.length > MARKET_ID_LENGTH_MAX || marketId.includes("\0") || marketId === "")
        throw createNotFoundError();
      const market = findMarket(venue, marketId);
      if (market !== null) return market;
      const id = `${venue}/${marketId}`;
      const now = clock.now();
      // Not `market_not_found`: the market exists but has no price at present.
      if (board.find(venue, marketId) !== null)
        throw new AppError("venue_unavailable", "The venue currently has no price for this market");
      if ((notFoundUntil.get(id) ?? 0) > now) throw createNotFoundError();
      await lookUp(venue, marketId);
      const fetchedMarket = findMarket(venue, marketId);
      if (fetchedMarket !== null) return fetchedMarket;
      notFoundUntil.set(id, now + NOT_FOUND_CACHE_MS);
      for (const oldest of notFoundUntil.keys()) {
        if (notFoundUntil.size <= NOT_FOUND_ENTRIES_MAX) break;
        notFoundUntil.delete(oldest);
      }
      throw createNotFoundError();
    },

    /** Returns one page of markets and `next`, the position of its last market; `next` is null on the last page. */
    listMarkets(request: ListRequest, after: MarketQuery["after"]) {
      const foundMarkets = board.list({
        venues: venuesOf(request),
        statuses: request.status === "all" ? LISTED_STATUSES : [request.status],
        category: request.category ?? null,
        text: request.query ?? null,
        sort: request.sort,
        limit: request.limit + 1,
        after,
      });
      const markets = foundMarkets.slice(0, request.limit);
      const last = markets.at(-1);
      const hasMore = foundMarkets.length > request.limit && last !== undefined;
      return { markets, next: hasMore ? board.position(last, request.sort) : null };
    },

    getHistory(market: BoardMarket, period: Period, maxPoints: number): Promise<HistoryReading> {
      const id = `${period}/${maxPoints}/${market.listing.venue}/${market.listing.marketId}`;
      const cached = histories.get(id);
      if (cached !== undefined && (cached.readAt === null || clock.monotonic() - cached.readAt < HISTORY_CACHE_MS))
        return cached.reading;
      const reading = ports.pastPrices.read(market, period, maxPoints);
      const entry = { reading, readAt: null as number | null };
      histories.delete(id);
      histories.set(id, entry);
      for (const oldest of histories.keys()) {
        if (histories.size <= HISTORY_CACHE_ENTRIES_MAX) break;
        histories.delete(oldest);
      }
      reading.then(
        () => {
          entry.readAt = clock.monotonic();
        },
        () => {
          if (histories.get(id) === entry) histories.delete(id);
        },
      );
      return reading;
    },

    listEvents: (query: Omit<EventQuery, "venues"> & VenueFilter) =>
      listEvents(board, { ...query, venues: venuesOf(query) }),

    /** @throws AppError `event_not_found` */
    getEvent(slug: string): EventGroup {
      const event = board.findEvent(slug);
      const group =
        event === null || !ports.venues.includes(event.listing.venue) ? null : createEventGroup(board, event);
      if (group === null) throw new AppError("event_not_found", "There is no such event");
      return group;
    },

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
