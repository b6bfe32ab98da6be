import type { FastifyInstance, FastifyReply } from "fastify";
import type { MarketBoard } from "../../board/index.ts";
import { type BoardMarket, SORT_KEYS } from "../../board/index.ts";
import { METERING } from "../../domain/metering.ts";
import { decodeCursor, encodeCursor, type ListingKey, nextPageLink } from "../../http/pagination.ts";
import { sendPreserialised } from "../../http/response/preserialised.ts";
import { defineRoute } from "../../http/route.ts";
import { presentEvent, presentEventSummary } from "./events.ts";
import { presentHistory } from "./history.ts";
import { arrayBytes, isoTime, marketBytes, presentMarket } from "./present.ts";
import { marketSchemas } from "./schema.ts";
import type { MarketsService } from "./service.ts";

const HISTORY_EXPANSION_POINTS = 48;

export interface MarketRoutesOptions {
  readonly service: MarketsService;
  readonly board: MarketBoard;
  readonly venues: { readonly trading: readonly string[]; readonly all: readonly string[] };
  readonly publicUrl: string | null;
  readonly now: () => number;
}

/** GET /v1/markets and what hangs below it, /v1/events, /v1/sentiment. */
export function marketRoutes(app: FastifyInstance, options: MarketRoutesOptions): void {
  const { service, board } = options;
  const schemas = marketSchemas(options.venues);
  const eventOf = (market: BoardMarket) => {
    const { venue, eventId } = market.listing;
    return eventId === null ? null : board.findEvent(`${venue}:${eventId.toLowerCase()}`);
  };
  /** The schema is for the description; these bytes were made from the same fields. */
  const shown = (market: BoardMarket) => presentMarket(market, eventOf(market));
  const sendMarket = (reply: FastifyReply, market: BoardMarket) =>
    sendPreserialised(reply, marketBytes(market, eventOf(market)));
  const sendRead = async (
    reply: FastifyReply,
    { platform, market_id }: { readonly platform: string; readonly market_id: string },
    hasHistory: boolean,
  ) => {
    const market = await service.getMarket(platform, market_id);
    if (!hasHistory) return sendMarket(reply, market);
    const reading = await service.getHistory(market, "7d", HISTORY_EXPANSION_POINTS);
    const json = JSON.stringify({ ...shown(market), history: presentHistory(market, reading) });
    return sendPreserialised(reply, Buffer.from(json));
  };

  defineRoute(app, {
    method: "GET",
    url: "/v1/markets",
    access: "key",
    metering: METERING.LISTING,
    tag: "Markets",
    summary: "List markets",
    description: "Markets of all venues, filtered and sorted. The next page is in the Link header.",
    operationId: "list_markets",
    query: schemas.listQuery,
    responses: { 200: schemas.MarketList },
    handler({ query, request, reply }) {
      const { limit = 30, sort = SORT_KEYS[0], status = "active", cursor, ...filters } = query;
      const listing = listingKey({ sort, status, ...filters });
      const { markets, next } = service.listMarkets(
        { ...filters, limit, sort, status },
        cursor === undefined ? null : keysetOf(decodeCursor(cursor, listing)),
      );
      if (next !== null)
        reply.header("link", nextPageLink(request.url, encodeCursor(next, listing), options.publicUrl));
      return sendPreserialised(reply, arrayBytes(markets.map((market) => marketBytes(market, eventOf(market)))));
    },
  });

  defineRoute(app, {
    method: "GET",
    url: "/v1/markets/:platform/:market_id",
    access: "key",
    metering: METERING.LISTING,
    tag: "Markets",
    summary: "Get one market",
    operationId: "get_market",
    params: schemas.marketPath,
    query: schemas.marketQuery,
    responses: { 200: schemas.Market },
    errors: ["market_not_found", "venue_unavailable"],
    handler({ params, query, reply }) {
      const hasHistory = query.expand?.includes("history") === true;
      // Most requests are for what is known, and one that waits for nothing costs a good part less.
      const known = hasHistory ? null : service.findMarket(params.platform, params.market_id);
      return known === null ? sendRead(reply, params, hasHistory) : sendMarket(reply, known);
    },
  });

  defineRoute(app, {
    method: "GET",
    url: "/v1/markets/:platform/:market_id/history",
    access: "key",
    metering: METERING.LISTING,
    tag: "Markets",
    summary: "Price and volume history",
    description:
      "One point an interval of a fixed UTC grid; gaps carry the last price forward, and nothing is shown before the first known price.",
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

  defineRoute(app, {
    method: "GET",
    url: "/v1/events",
    access: "key",
    metering: METERING.LISTING,
    tag: "Markets",
    summary: "List events",
    description: "Events with an open market, largest 24-hour volume first.",
    operationId: "list_events",
    query: schemas.eventsQuery,
    responses: { 200: schemas.EventSummaries },
    handler: ({ query }) =>
      service
        .listEvents({
          ...query,
          category: query.category ?? null,
          featuredOnly: query.featured === true,
          text: null,
          order: "volume",
          limit: query.limit ?? 20,
        })
        .map(presentEventSummary),
  });

  defineRoute(app, {
    method: "GET",
    url: "/v1/events/trending",
    access: "key",
    metering: METERING.LISTING,
    tag: "Markets",
    summary: "Trending events",
    description:
      "Ranked by 24-hour volume times (1 + 20 × the largest price move of 24 hours among the event's markets).",
    operationId: "list_trending_events",
    query: schemas.trendingQuery,
    responses: { 200: schemas.EventSummaries },
    handler: ({ query }) =>
      service
        .listEvents({ category: null, featuredOnly: false, text: null, order: "trending", limit: query.limit ?? 20 })
        .map(presentEventSummary),
  });

  defineRoute(app, {
    method: "GET",
    url: "/v1/events/search",
    access: "key",
    metering: METERING.LISTING,
    tag: "Markets",
    summary: "Search events",
    operationId: "search_events",
    query: schemas.searchQuery,
    responses: { 200: schemas.EventSummaries },
    handler: ({ query }) =>
      service
        .listEvents({ category: null, featuredOnly: false, text: query.q, order: "volume", limit: query.limit ?? 20 })
        .map(presentEventSummary),
  });

  defineRoute(app, {
    method: "GET",
    url: "/v1/events/:slug",
    access: "key",
    metering: METERING.LISTING,
    tag: "Markets",
    summary: "Get one event",
    operationId: "get_event",
    params: schemas.slugPath,
    query: schemas.eventQuery,
    responses: { 200: schemas.EventDetail },
    errors: ["event_not_found"],
    handler: ({ params, query }) =>
      presentEvent(service.getEvent(params.slug), query.expand?.includes("markets") === true),
  });

  defineRoute(app, {
    method: "GET",
    url: "/v1/events/:slug/markets",
    access: "key",
    metering: METERING.LISTING,
    tag: "Markets",
    summary: "Markets of one event",
    operationId: "list_event_markets",
    params: schemas.slugPath,
    responses: { 200: schemas.MarketList },
    errors: ["event_not_found"],
    handler({ params, reply }) {
      const group = service.getEvent(params.slug);
      return sendPreserialised(reply, arrayBytes(group.markets.map((market) => marketBytes(market, group.event))));
    },
  });

  defineRoute(app, {
    method: "GET",
    url: "/v1/sentiment",
    access: "key",
    metering: METERING.LISTING,
    tag: "Analytics",
    summary: "Mood of all open markets",
    operationId: "get_sentiment",
    responses: { 200: schemas.Sentiment },
    errors: ["store_unavailable"],
    async handler({ reply }) {
      const mood = await service.getSentiment();
      return sendPreserialised(
        reply,
        Buffer.from(
          JSON.stringify({
            fear_greed_index: mood.fearGreedIndex,
            market_regime: mood.marketRegime,
            volume_trend: mood.volumeTrend,
            spread_trend: mood.spreadTrend,
            active_market_count: mood.activeMarketCount,
            dominant_category: mood.dominantCategory,
            top_movers: mood.topMovers.map(shown),
            generated_at: isoTime(options.now()),
          }),
        ),
      );
    },
  });
}

/** What makes two requests ask for the same list: the venue filter has two names, and a category any case. */
function listingKey(filters: { source?: string; platform?: string; category?: string } & ListingKey): ListingKey {
  const { source, platform, category, ...others } = filters;
  return { ...others, source: source ?? platform, category: category?.toLowerCase() };
}

/** Cursors of market lists hold numbers only. */
function keysetOf(keyset: { readonly value: number | string | null; readonly id: string }): {
  value: number | null;
  id: string;
} {
  return { value: typeof keyset.value === "number" ? keyset.value : null, id: keyset.id };
}
