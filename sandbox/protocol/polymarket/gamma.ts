import type { FastifyInstance, FastifyReply } from "fastify";
import type { ListedEvent, ListedMarket } from "../../world/types.ts";
import { allowCrossOriginRequests } from "../cross-origin.ts";
import type { ExchangeContext, ExchangeService } from "../exchange.ts";
import type { Catalogue } from "./catalogue.ts";
import { createEventFilter, createMarketFilter, eventSortKeyOf, marketSortKeyOf } from "./gamma-filters.ts";
import { isEventClosed, presentGammaEvent, presentGammaMarket, presentOtherMarket } from "./gamma-json.ts";
import { type Selection, SortedCache, selectKeysetPage, selectOffsetPage } from "./gamma-paging.ts";
import { installSearch } from "./gamma-search.ts";
import { eventIndexOfOtherId } from "./ids.ts";
import { enforceRequestLimits } from "./limits.ts";
import { computeMarketState, isAugmented } from "./market-state.ts";
import {
  parseBooleanParam,
  parseIntegerParam,
  parseListParam,
  parseTextParam,
  type Query,
  ValidationError,
} from "./query.ts";

const MARKETS_PAGE_MAX = 100;
const EVENTS_PAGE_MAX = 100;
const LEGACY_PAGE_MAX = 100;
const LEGACY_OFFSET_MAX = 2_000;
const PAGE_DEFAULT = 20;

const LIMIT_RULES = {
  total: 4_000,
  paths: [
    { name: "events", matches: (path: string) => path.startsWith("/events"), limit: 500 },
    { name: "markets", matches: (path: string) => path.startsWith("/markets"), limit: 300 },
    { name: "listings", matches: (path: string) => /^\/(events|markets)(\/keyset)?$/.test(path), limit: 900 },
    { name: "search", matches: (path: string) => path === "/public-search", limit: 350 },
  ],
};

/** Gamma, the venue's catalogue: markets, events and search. */
export function gammaService(context: ExchangeContext, catalogue: Catalogue): ExchangeService {
  return {
    venue: "polymarket",
    name: "gamma",
    basePath: "",
    scheme: "http",
    listener: "polymarket-gamma",
    install(app) {
      allowCrossOriginRequests(app);
      if (context.enforceLimits) enforceRequestLimits(app, LIMIT_RULES, context.now);
      app.setErrorHandler((error, _request, reply) => {
        if (error instanceof ValidationError)
          return reply.code(422).send({ type: "validation error", error: error.message });
        return reply.code(500).send({ type: "internal error", error: "internal server error" });
      });
      app.setNotFoundHandler((_request, reply) => sendNotFound(reply, "page not found"));
      installLists(app, context, catalogue);
      installObjects(app, context, catalogue);
      installSearch(app, context, catalogue);
    },
  };
}

function sendNotFound(reply: FastifyReply, error: string) {
  return reply.code(404).send({ type: "not found error", error });
}

/** Limits outside [1, `max`] are clamped without an error. */
function clampLimit(limit: number | null, max: number): number {
  return Math.min(max, Math.max(1, limit ?? PAGE_DEFAULT));
}

function installLists(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  const { world } = context;
  const cache = new SortedCache();
  const marketSelection = (query: Query, now: number): Selection<ListedMarket> => ({
    items: findCandidateMarkets(catalogue, query),
    matches: createMarketFilter(world, query, now),
    key: marketSortKeyOf(world, query, now),
    ascending: parseBooleanParam(query, "ascending") ?? true,
  });
  const eventSelection = (query: Query, now: number): Selection<ListedEvent> => ({
    items: findCandidateEvents(catalogue, query),
    matches: createEventFilter(world, query, now),
    key: eventSortKeyOf(world, query, now),
    ascending: parseBooleanParam(query, "ascending") ?? true,
  });
  const marketsJson = (markets: readonly ListedMarket[], query: Query, now: number) => {
    const withTags = parseBooleanParam(query, "include_tag") ?? false;
    const options = { withEvents: true, withTags, withLongChanges: false };
    return markets.map((market) => presentGammaMarket(world, computeMarketState(world, market, now), now, options));
  };

  app.get<{ Querystring: Query }>("/markets/keyset", async ({ query }) => {
    const now = context.now();
    const selection = marketSelection(query, now);
    const { items, next } = selectKeysetPage(
      cache,
      "markets",
      query,
      selection,
      parseKeysetParams(query, MARKETS_PAGE_MAX),
      now,
    );
    return { markets: marketsJson(items, query, now), ...(next === null ? {} : { next_cursor: next }) };
  });
  app.get<{ Querystring: Query }>("/events/keyset", async ({ query }) => {
    const now = context.now();
    const selection = eventSelection(query, now);
    const { items, next } = selectKeysetPage(
      cache,
      "events",
      query,
      selection,
      parseKeysetParams(query, EVENTS_PAGE_MAX),
      now,
    );
    const events = items.map((event) => presentGammaEvent(world, event, now));
    return { events, ...(next === null ? {} : { next_cursor: next }) };
  });
  app.get<{ Querystring: Query }>("/markets", async ({ query }) => {
    const now = context.now();
    const markets = selectOffsetPage(
      cache,
      "markets",
      query,
      marketSelection(query, now),
      parseOffsetParams(query),
      now,
    );
    return marketsJson(markets, query, now);
  });
  app.get<{ Querystring: Query }>("/events", async ({ query }) => {
    const now = context.now();
    const events = selectOffsetPage(cache, "events", query, eventSelection(query, now), parseOffsetParams(query), now);
    return events.map((event) => presentGammaEvent(world, event, now));
  });
}

/** The venue ignores the parameter `cursor`: a client that sends it always receives the first page. */
function parseKeysetParams(query: Query, limitMax: number) {
  if (query.offset !== undefined) throw new ValidationError("offset is not supported, use after_cursor");
  return {
    limit: clampLimit(parseIntegerParam(query, "limit"), limitMax),
    after: parseTextParam(query, "after_cursor"),
  };
}

function parseOffsetParams(query: Query) {
  const offset = parseIntegerParam(query, "offset") ?? 0;
  if (offset > LEGACY_OFFSET_MAX)
    throw new ValidationError("offset too large, use /markets/keyset for deeper pagination");
  return { limit: clampLimit(parseIntegerParam(query, "limit"), LEGACY_PAGE_MAX), offset };
}

function removeDuplicates<Item extends { readonly index: number }>(items: readonly (Item | null)[]): Item[] {
  return [...new Set(items.filter((item) => item !== null))].sort((a, b) => a.index - b.index);
}

/** Returns the markets to filter: those selected by an id filter, or all markets if there is none. */
function findCandidateMarkets(catalogue: Catalogue, query: Query): readonly ListedMarket[] {
  const matches =
    parseListParam(query, "id")?.map((id) => catalogue.findMarketById(id)) ??
    parseListParam(query, "condition_ids")?.map((id) => catalogue.findMarketByCondition(id)) ??
    parseListParam(query, "clob_token_ids")?.map((token) => catalogue.findMarketByToken(token)?.market ?? null) ??
    parseListParam(query, "slug")?.map((slug) => catalogue.findMarketBySlug(slug));
  return matches === undefined ? catalogue.listMarkets() : removeDuplicates(matches);
}

function findCandidateEvents(catalogue: Catalogue, query: Query): readonly ListedEvent[] {
  const matches =
    parseListParam(query, "id")?.map((id) => catalogue.findEventById(id)) ??
    parseListParam(query, "slug")?.map((slug) => catalogue.findEventBySlug(slug));
  return matches === undefined ? catalogue.listEvents() : removeDuplicates(matches);
}

function installObjects(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  const { world } = context;
  const presentMarket = (reply: FastifyReply, market: ListedMarket | null, query: Query, missing: string) => {
    if (market === null) return sendNotFound(reply, missing);
    const now = context.now();
    const withTags = parseBooleanParam(query, "include_tag") ?? false;
    const options = { withEvents: true, withTags, withLongChanges: true };
    return presentGammaMarket(world, computeMarketState(world, market, now), now, options);
  };
  type ById = { Params: { id: string }; Querystring: Query };
  type BySlug = { Params: { slug: string }; Querystring: Query };
  const assertId = (id: string) => {
    if (!/^\d{1,15}$/.test(id)) throw new ValidationError("id is invalid");
  };

  app.get<ById>("/markets/:id", async ({ params, query }, reply) => {
    assertId(params.id);
    const event = catalogue.findEventByIndex(eventIndexOfOtherId(params.id));
    if (event !== null && event.recorded === undefined && isAugmented(event))
      return presentOtherMarket(event, isEventClosed(event, context.now()));
    return presentMarket(reply, catalogue.findMarketById(params.id), query, "id not found");
  });
  app.get<BySlug>("/markets/slug/:slug", async ({ params, query }, reply) =>
    presentMarket(reply, catalogue.findMarketBySlug(params.slug), query, "slug not found"),
  );
  app.get<ById>("/events/:id", async ({ params }, reply) => {
    assertId(params.id);
    const event = catalogue.findEventById(params.id);
    return event === null ? sendNotFound(reply, "id not found") : presentGammaEvent(world, event, context.now());
  });
  app.get<BySlug>("/events/slug/:slug", async ({ params }, reply) => {
    const event = catalogue.findEventBySlug(params.slug);
    return event === null ? sendNotFound(reply, "slug not found") : presentGammaEvent(world, event, context.now());
  });
}
