import type { FastifyInstance, FastifyReply } from "fastify";
import { type BoardMarket, SORT_KEYS, type SortKey } from "../../../board/index.ts";
import { encodeCursor, type ListingKey, nextPageLink } from "../../../http/pagination.ts";
import { joinJsonArray } from "../../../http/response/join-json.ts";
import { sendPreserialised } from "../../../http/response/preserialised.ts";
import { defineRoute } from "../../../http/route.ts";
import { encodeJson } from "../../../lib/round-numbers.ts";
import { decodePosition, eventRoutes } from "./event-routes.ts";
import { marketDataRoutes } from "./market-data-routes.ts";
import { overviewRoutes } from "./overview-routes.ts";
import { encodeMarket, presentMarket } from "./present.ts";
import { presentHistory } from "./present-market-data.ts";
import { COMMON_OPTIONS, type RouteContext } from "./route-context.ts";
import { createMarketSchemas } from "./schema.ts";

const HISTORY_EXPANSION_POINTS = 48;

/** GET /v1/markets, /v1/events, /v1/categories and /v1/sentiment, with all their subresources. */
export function marketRoutes(app: FastifyInstance, options: Omit<RouteContext, "schemas">): void {
  const context = { ...options, schemas: createMarketSchemas(options.venues) };
  listMarketsRoute(app, context);
  getMarketRoute(app, context);
  marketDataRoutes(app, context);
  eventRoutes(app, context);
  overviewRoutes(app, context);
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
      const { limit = 30, sort = SORT_KEYS[0], status = "active", cursor, order: requestedOrder, ...filters } = query;
      const order = requestedOrder ?? defaultOrderOf(sort);
      const listing = createListingKey({ sort, status, order, ...filters });
      const { markets, next } = service.listMarkets(
        { ...filters, limit, sort, status, isReversed: order !== defaultOrderOf(sort) },
        cursor === undefined ? null : decodePosition(cursor, listing),
      );
      if (next !== null) reply.header("link", nextPageLink(request.url, encodeCursor(next, listing), publicUrl));
      const items = markets.map((market) => encodeMarket(market, board.eventOf(market), service.lookups));
      return sendPreserialised(reply, joinJsonArray(items));
    },
  });
}

function getMarketRoute(app: FastifyInstance, { service, board, schemas, readAnalysis }: RouteContext): void {
  const sendMarket = (reply: FastifyReply, market: BoardMarket) =>
    sendPreserialised(reply, encodeMarket(market, board.eventOf(market), service.lookups));
  const fetchAndSend = async (
    reply: FastifyReply,
    { platform, market_id }: { readonly platform: string; readonly market_id: string },
    expansions: ReadonlySet<string>,
  ) => {
    const market = await service.getMarket(platform, market_id);
    if (expansions.size === 0) return sendMarket(reply, market);
    const body = presentMarket(market, board.eventOf(market), service.lookups);
    if (expansions.has("rules")) body.rules = market.listing.rules;
    if (expansions.has("analysis")) body.analysis = await readAnalysis(market);
    if (expansions.has("history"))
      body.history = presentHistory(market, await service.getHistory(market, "7d", HISTORY_EXPANSION_POINTS));
    return sendPreserialised(reply, Buffer.from(encodeJson(body)));
  };
  defineRoute(app, {
    ...COMMON_OPTIONS,
    url: "/v1/markets/:platform/:market_id",
    summary: "Retrieve a market",
    operationId: "get_market",
    params: schemas.marketPath,
    query: schemas.marketQuery,
    responses: { 200: schemas.Market },
    errors: ["market_not_found", "venue_unavailable", "store_unavailable"],
    handler({ params, query, reply }) {
      const expansions = new Set<string>(query.expand);
      // Fast path: most requested markets are on the board, and a synchronous handler is considerably faster.
      const market = expansions.size > 0 ? null : service.findMarket(params.platform, params.market_id);
      return market === null ? fetchAndSend(reply, params, expansions) : sendMarket(reply, market);
    },
  });
}

function defaultOrderOf(sort: SortKey): "asc" | "desc" {
  return sort === "resolution_date" ? "asc" : "desc";
}

/** Returns the filters in a normalised form, so that a cursor is valid for every equivalent query. */
function createListingKey(filters: { source?: string; platform?: string; category?: string } & ListingKey): ListingKey {
  const { source, platform, category, ...others } = filters;
  return { ...others, source: source ?? platform, category: category?.toLowerCase() };
}
