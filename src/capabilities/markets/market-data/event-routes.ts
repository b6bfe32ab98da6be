import type { FastifyInstance } from "fastify";
import { EVENT_STATUSES } from "../../../board/index.ts";
import { decodeCursor, encodeCursor, type ListingKey, nextPageLink } from "../../../http/pagination.ts";
import { joinJsonArray } from "../../../http/response/join-json.ts";
import { sendPreserialised } from "../../../http/response/preserialised.ts";
import { defineRoute } from "../../../http/route.ts";
import { eventPath } from "../../../http/schema-types.ts";
import { presentEvent, presentEventSummary } from "./events.ts";
import { encodeMarket } from "./present.ts";
import { COMMON_OPTIONS, type RouteContext } from "./route-context.ts";

const EVENTS_LIMIT_DEFAULT = 20;

export function eventRoutes(app: FastifyInstance, { service, schemas, publicUrl }: RouteContext): void {
  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/v1/events",
    summary: "List events",
    description:
      "Returns events, sorted by 24-hour volume in descending order. An event is `open` if it has an active market, `settled` if all its markets are finalized, otherwise `closed`. The `Link` header contains the URL of the next page.",
    operationId: "list_events",
    query: schemas.eventsQuery,
    responses: { 200: schemas.EventSummaries },
    handler({ query, request, reply }) {
      const { category, featured = false, limit = EVENTS_LIMIT_DEFAULT, status = "open", cursor, ...others } = query;
      const { min_volume, min_markets, source, platform } = others;
      const listing = {
        source: source ?? platform,
        category: category?.toLowerCase(),
        featured,
        status,
        min_volume,
        min_markets,
      };
      const { events, next } = service.pageEvents(
        {
          source,
          platform,
          category: category ?? null,
          featuredOnly: featured,
          text: null,
          order: "volume",
          limit,
          statuses: status === "all" ? EVENT_STATUSES : [status],
          volumeUsdMin: min_volume,
          marketsMin: min_markets,
        },
        cursor === undefined ? null : decodePosition(cursor, listing),
      );
      if (next !== null) reply.header("link", nextPageLink(request.url, encodeCursor(next, listing), publicUrl));
      return events.map(presentEventSummary);
    },
  });
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
  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/v1/events/:slug",
    summary: "Retrieve an event",
    operationId: "get_event",
    params: eventPath,
    query: schemas.eventQuery,
    responses: { 200: schemas.EventDetail },
    errors: ["event_not_found"],
    handler({ params: { slug }, query }) {
      const group = service.getEvent(slug);
      return presentEvent(group, service.linkEvent(group.event.slug), query.expand?.includes("markets") === true);
    },
  });
  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/v1/events/:slug/markets",
    summary: "List the markets of an event",
    operationId: "list_event_markets",
    params: eventPath,
    responses: { 200: schemas.MarketList },
    errors: ["event_not_found"],
    handler({ params, reply }) {
      const { event, markets } = service.getEvent(params.slug);
      return sendPreserialised(
        reply,
        joinJsonArray(markets.map((market) => encodeMarket(market, event, service.lookups))),
      );
    },
  });
}

/**
 * Decodes the cursor of a list. Lists have only numeric sort values, so a string becomes null.
 *
 * @throws InvalidRequestError if the cursor does not belong to the listing
 */
export function decodePosition(cursor: string, listing: ListingKey) {
  const { value, id } = decodeCursor(cursor, listing);
  return { value: typeof value === "number" ? value : null, id };
}
