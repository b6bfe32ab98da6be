import type { BoardMarket, EventQuery, MarketBoard, SortKey } from "../../board/index.ts";
import { AppError, InvalidRequestError } from "../../domain/errors.ts";
import type { MarketStatus, VenueId } from "../../domain/market.ts";
import type { Clock } from "../../ports/clock.ts";
import type { HistoryReading, MarketWideTrend, PastPrices } from "../../storage/index.ts";
import { type EventGroup, groupOf, listEvents } from "./events.ts";
import type { Period, STATUS_FILTERS } from "./schema.ts";
import { type Sentiment, sentiment } from "./sentiment.ts";

const MARKET_ID_LENGTH_MAX = 512;
const ABSENT_KEPT_MS = 30_000;
const ABSENT_MAX = 10_000;
const TREND_KEPT_MS = 60_000;
/** A chart that many look at is read from the store once a second. */
const HISTORY_KEPT_MS = 1_000;
const HISTORIES_MAX = 500;
const LISTED_STATUSES: readonly MarketStatus[] = ["active", "closed", "determined", "finalized"];

export interface MarketsPorts {
  readonly board: MarketBoard;
  readonly clock: Clock;
  /** Venues that may be asked about, by public id. */
  readonly venues: readonly VenueId[];
  /** Asks the venue itself for a market that the board does not have, and puts it there; false where it has none. */
  readonly lookUp: (venue: VenueId, marketId: string) => Promise<boolean>;
  readonly past: PastPrices;
  readonly readTrend: () => Promise<MarketWideTrend>;
}

export interface ListRequest {
  readonly source?: VenueId;
  readonly platform?: VenueId;
  readonly query?: string;
  readonly category?: string;
  readonly status: (typeof STATUS_FILTERS)[number];
  readonly sort: SortKey;
  readonly limit: number;
}

export interface MarketsService {
  /** The market as it is known now, where that can be shown; null says only that `getMarket` has to look further. */
  findMarket(venue: VenueId, marketId: string): BoardMarket | null;
  /** @throws AppError `market_not_found`, or `venue_unavailable` while it has no price; VenueError when the venue must be asked and gives no answer */
  getMarket(venue: VenueId, marketId: string): Promise<BoardMarket>;
  listMarkets(
    request: ListRequest,
    after: { value: number | null; id: string } | null,
  ): { markets: BoardMarket[]; next: { value: number | null; id: string } | null };
  getHistory(market: BoardMarket, period: Period, maxPoints: number): Promise<HistoryReading>;
  listEvents(query: Omit<EventQuery, "venues"> & { source?: VenueId; platform?: VenueId }): EventGroup[];
  /** @throws AppError `event_not_found` */
  getEvent(slug: string): EventGroup;
  getSentiment(): Promise<Sentiment>;
}

/** The reads of markets and events, all from the board; only what the board lacks is asked of a venue. */
export function createMarketsService(ports: MarketsPorts): MarketsService {
  const { board, clock } = ports;
  const absentUntil = new Map<string, number>();
  const lookUps = new Map<string, Promise<boolean>>();
  const histories = new Map<string, { readonly reading: Promise<HistoryReading>; readAt: number | null }>();
  let trend: { readonly readAt: number; readonly value: MarketWideTrend } | null = null;

  const lookUp = (venue: VenueId, marketId: string): Promise<boolean> => {
    const id = `${venue}/${marketId}`;
    const running = lookUps.get(id);
    if (running !== undefined) return running;
    const started = ports.lookUp(venue, marketId).finally(() => lookUps.delete(id));
    lookUps.set(id, started);
    return started;
  };

  const venuesOf = (filter: { source?: VenueId; platform?: VenueId }): readonly VenueId[] => {
    const { source, platform } = filter;
    if (source !== undefined && platform !== undefined && source !== platform) {
      const msg = "Value error, source and platform are one filter; give one, or both the same";
      throw new InvalidRequestError([
        { type: "value_error", loc: ["query", "platform"], msg, input: platform, ctx: { error: {} } },
      ]);
    }
    const only = source ?? platform;
    return only === undefined ? ports.venues : [only];
  };

  const findMarket = (venue: VenueId, marketId: string): BoardMarket | null => {
    const known = board.find(venue, marketId);
    return known !== null && known.yesPrice !== null ? known : null;
  };

  return {
    findMarket,

    async getMarket(venue, marketId) {
      const notFound = () => new AppError("market_not_found", "There is no such market on this venue");
      if (marketId.length > MARKET_ID_LENGTH_MAX || marketId.includes("\0") || marketId === "") throw notFound();
      const known = findMarket(venue, marketId);
      if (known !== null) return known;
      const id = `${venue}/${marketId}`;
      const now = clock.now();
      // It may have had a price a moment ago and have one again in the next: it is there all the while.
      if (board.find(venue, marketId) !== null)
        throw new AppError("venue_unavailable", "The venue gives no price for this market at the moment");
      if ((absentUntil.get(id) ?? 0) > now) throw notFound();
      await lookUp(venue, marketId);
      const found = findMarket(venue, marketId);
      if (found !== null) return found;
      absentUntil.set(id, now + ABSENT_KEPT_MS);
      for (const oldest of absentUntil.keys()) {
        if (absentUntil.size <= ABSENT_MAX) break;
        absentUntil.delete(oldest);
      }
      throw notFound();
    },

    listMarkets(request, after) {
      const found = board.list({
        venues: venuesOf(request),
        statuses: request.status === "all" ? LISTED_STATUSES : [request.status],
        category: request.category ?? null,
        text: request.query ?? null,
        sort: request.sort,
        limit: request.limit + 1,
        after,
      });
      const markets = found.slice(0, request.limit);
      const last = markets.at(-1);
      const hasMore = found.length > request.limit && last !== undefined;
      return { markets, next: hasMore ? board.position(last, request.sort) : null };
    },

    getHistory(market, period, maxPoints) {
      const id = `${period}/${maxPoints}/${market.listing.venue}/${market.listing.marketId}`;
      const known = histories.get(id);
      if (known !== undefined && (known.readAt === null || clock.monotonic() - known.readAt < HISTORY_KEPT_MS))
        return known.reading;
      const reading = ports.past.read(market, period, maxPoints);
      const entry = { reading, readAt: null as number | null };
      histories.delete(id);
      histories.set(id, entry);
      for (const oldest of histories.keys()) {
        if (histories.size <= HISTORIES_MAX) break;
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

    listEvents: (query) => listEvents(board, { ...query, venues: venuesOf(query) }),

    getEvent(slug) {
      const event = board.findEvent(slug);
      const group = event === null || !ports.venues.includes(event.listing.venue) ? null : groupOf(board, event);
      if (group === null) throw new AppError("event_not_found", "There is no such event");
      return group;
    },

    async getSentiment() {
      const now = clock.monotonic();
      if (trend === null || now - trend.readAt > TREND_KEPT_MS) trend = { readAt: now, value: await ports.readTrend() };
      const venues = new Set(ports.venues);
      return sentiment(
        board.markets().filter((market) => venues.has(market.listing.venue)),
        trend.value,
      );
    },
  };
}
