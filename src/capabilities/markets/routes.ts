import type { FastifyInstance, FastifyReply } from "fastify";
import { type BoardMarket, eventSlug, type MarketBoard, SORT_KEYS } from "../../board/index.ts";
import { METERING } from "../../domain/metering.ts";
import { decodeCursor, encodeCursor, type ListingKey, nextPageLink } from "../../http/pagination.ts";
import { sendPreserialised } from "../../http/response/preserialised.ts";
import { defineRoute } from "../../http/route.ts";
import { presentEvent, presentEventSummary } from "./events.ts";
import { encodeMarket, formatIsoTime, joinJsonArray, presentHistory, presentMarket } from "./present.ts";
import { createMarketSchemas, type VenueIds } from "./schema.ts";
import type { MarketsService } from "./service.ts";

const HISTORY_EXPANSION_POINTS = 48;
const EVENTS_LIMIT_DEFAULT = 20;

/** Options common to all routes of this file. */
const COMMON_OPTIONS = { method: "GET", access: "key", metering: METERING.LISTING, tag: "Markets" } as const;

export interface MarketRoutesOptions {
  readonly service: MarketsService;
  readonly board: MarketBoard;
  readonly venues: VenueIds;
  readonly publicUrl: string | null;
  readonly now: () => number;
}

interface RouteContext extends MarketRoutesOptions {
  readonly schemas: ReturnType<typeof createMarketSchemas>;
}

/** GET /v1/markets, /v1/events and /v1/sentiment, with all their subresources. */
export function marketRoutes(app: FastifyInstance, options: MarketRoutesOptions): void {
  const context = { ...options, schemas: createMarketSchemas(options.venues) };
  listMarketsRoute(app, context);
  getMarketRoute(app, context);
  getHistoryRoute(app, context);
  listEventsRoute(app, context);
  trendingEventsRoute(app, context);
  searchEventsRoute(app, context);
  getEventRoute(app, context);
  listEventMarketsRoute(app, context);
  sentimentRoute(app, context);
}

function listMarketsRoute(app: FastifyInstance, { service, board, publicUrl, schemas }: RouteContext): void {
  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/v1/markets",
    summary: "List markets",
    description:
      "Returns markets of all venues, filtered and sorted. The `Link` header contains the URL of the next page.",
    operationId: "list_markets",
    query: schemas.listQuery,
    responses: { 200: schemas.MarketList },
    handler({ query, request, reply }) {
      const { limit = 30, sort = SORT_KEYS[0], status = "active", cursor, ...filters } = query;
      const listing = createListingKey({ sort, status, ...filters });
      const { markets, next } = service.listMarkets(
        { ...filters, limit, sort, status },
        cursor === undefined ? null : toKeyset(decodeCursor(cursor, listing)),
      );
      if (next !== null) reply.header("link", nextPageLink(request.url, encodeCursor(next, listing), publicUrl));
      const items = markets.map((market) => encodeMarket(market, findParentEvent(board, market)));
      return sendPreserialised(reply, joinJsonArray(items));
    },
  });
}

function getMarketRoute(app: FastifyInstance, { service, board, schemas }: RouteContext): void {
  const sendMarket = (reply: FastifyReply, market: BoardMarket) =>
    sendPreserialised(reply, encodeMarket(market, findParentEvent(board, market)));
  const fetchAndSend = async (
    reply: FastifyReply,
    { platform, market_id }: { readonly platform: string; readonly market_id: string },
    hasHistory: boolean,
  ) => {
    const market = await service.getMarket(platform, market_id);
    if (!hasHistory) return sendMarket(reply, market);
    const reading = await service.getHistory(market, "7d", HISTORY_EXPANSION_POINTS);
    const body = { ...presentMarket(market, findParentEvent(board, market)), history: presentHistory(market, reading) };
    return sendPreserialised(reply, Buffer.from(JSON.stringify(body)));
  };
  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/v1/markets/:platform/:market_id",
    summary: "Retrieve a market",
    operationId: "get_market",
    params: schemas.marketPath,
    query: schemas.marketQuery,
    responses: { 200: schemas.Market },
    errors: ["market_not_found", "venue_unavailable"],
    handler({ params, query, reply }) {
      const hasHistory = query.expand?.includes("history") === true;
      // Fast path: most requested markets are on the board, and a synchronous handler is considerably faster.
      const market = hasHistory ? null : service.findMarket(params.platform, params.market_id);
      return market === null ? fetchAndSend(reply, params, hasHistory) : sendMarket(reply, market);
    },
  });
}

function getHistoryRoute(app: FastifyInstance, { service, schemas }: RouteContext): void {
  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/v1/markets/:platform/:market_id/history",
    summary: "Retrieve the price and volume history of a market",
    description:
      "Returns one point per interval, aligned to UTC. Intervals without a trade or quote repeat the previous price. Intervals before the first known price are omitted.",
    operationId: "get_market_history",
    params: schemas.marketPath,
    query: schemas.historyQuery,
    responses: { 200: schemas.History },
    errors: ["market_not_found", "venue_unavailable", "store_unavailable"],
    async handler({ params, query }) {
      const market = await service.getMarket(params.platform, params.market_id);
      return presentHistory(market, await service.getHistory(market, query.period ?? "7d", query.max_points ?? 48));
    },
  });
}

function listEventsRoute(app: FastifyInstance, { service, schemas }: RouteContext): void {
  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/v1/events",
    summary: "List events",
    description: "Returns events with at least one active market, sorted by 24-hour volume in descending order.",
    operationId: "list_events",
    query: schemas.eventsQuery,
    responses: { 200: schemas.EventSummaries },
    handler: ({ query: { category = null, featured = false, limit = EVENTS_LIMIT_DEFAULT, ...filter } }) =>
      service
        .listEvents({ ...filter, category, featuredOnly: featured, text: null, order: "volume", limit })
        .map(presentEventSummary),
  });
}

function trendingEventsRoute(app: FastifyInstance, { service, schemas }: RouteContext): void {
  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/v1/events/trending",
    summary: "List trending events",
    description:
      "Returns events sorted by 24-hour volume × (1 + 20 × the largest 24-hour price change among the event's markets), in descending order.",
    operationId: "list_trending_events",
    query: schemas.trendingQuery,
    responses: { 200: schemas.EventSummaries },
    handler: ({ query: { limit = EVENTS_LIMIT_DEFAULT } }) =>
      service
        .listEvents({ category: null, featuredOnly: false, text: null, order: "trending", limit })
        .map(presentEventSummary),
  });
}

function searchEventsRoute(app: FastifyInstance, { service, schemas }: RouteContext): void {
  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/v1/events/search",
    summary: "Search events",
    operationId: "search_events",
    query: schemas.searchQuery,
    responses: { 200: schemas.EventSummaries },
    handler: ({ query: { q: text, limit = EVENTS_LIMIT_DEFAULT } }) =>
      service
        .listEvents({ category: null, featuredOnly: false, text, order: "volume", limit })
        .map(presentEventSummary),
  });
}

function getEventRoute(app: FastifyInstance, { service, schemas }: RouteContext): void {
  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/v1/events/:slug",
    summary: "Retrieve an event",
    operationId: "get_event",
    params: schemas.slugPath,
    query: schemas.eventQuery,
    responses: { 200: schemas.EventDetail },
    errors: ["event_not_found"],
    handler: ({ params, query }) =>
      presentEvent(service.getEvent(params.slug), query.expand?.includes("markets") === true),
  });
}

function listEventMarketsRoute(app: FastifyInstance, { service, schemas }: RouteContext): void {
  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/v1/events/:slug/markets",
    summary: "List the markets of an event",
    operationId: "list_event_markets",
    params: schemas.slugPath,
    responses: { 200: schemas.MarketList },
    errors: ["event_not_found"],
    handler({ params, reply }) {
      const { event, markets } = service.getEvent(params.slug);
      return sendPreserialised(reply, joinJsonArray(markets.map((market) => encodeMarket(market, event))));
    },
  });
}

function sentimentRoute(app: FastifyInstance, { service, board, schemas, now }: RouteContext): void {
  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/v1/sentiment",
    tag: "Analytics",
    summary: "Retrieve the overall market sentiment",
    operationId: "get_sentiment",
    responses: { 200: schemas.Sentiment },
    errors: ["store_unavailable"],
    async handler({ reply }) {
      const sentiment = await service.getSentiment();
      const body = {
        fear_greed_index: sentiment.fearGreedIndex,
        market_regime: sentiment.marketRegime,
        volume_trend: sentiment.volumeTrend,
        spread_trend: sentiment.spreadTrend,
        active_market_count: sentiment.activeMarketCount,
        dominant_category: sentiment.dominantCategory,
        top_movers: sentiment.topMovers.map((market) => presentMarket(market, findParentEvent(board, market))),
        generated_at: formatIsoTime(now()),
      };
      return sendPreserialised(reply, Buffer.from(JSON.stringify(body)));
    },
  });
}

function findParentEvent(board: MarketBoard, { listing: { venue, eventId } }: BoardMarket) {
  return eventId === null ? null : board.findEvent(eventSlug(venue, eventId));
}

/** Returns the filters in a normalised form, so that a cursor is valid for every equivalent query. */
function createListingKey(filters: { source?: string; platform?: string; category?: string } & ListingKey): ListingKey {
  const { source, platform, category, ...others } = filters;
  return { ...others, source: source ?? platform, category: category?.toLowerCase() };
}

/** Converts a decoded cursor to a position. Market lists have only numeric sort values, so a string becomes null. */
function toKeyset({ value, id }: { readonly value: number | string | null; readonly id: string }) {
  return { value: typeof value === "number" ? value : null, id };
}
