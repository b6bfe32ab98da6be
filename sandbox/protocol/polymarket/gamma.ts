import type { FastifyInstance, FastifyReply } from "fastify";
import type { ListedEvent, ListedMarket } from "../../world/types.ts";
import { allowBrowsers } from "../browser-access.ts";
import type { ExchangeContext, ExchangeService } from "../exchange.ts";
import { installEmptyListings } from "./gamma-empty.ts";
import { gammaEvent, gammaMarket, isEventClosed, otherMarket } from "./gamma-objects.ts";
import { keysetPage, offsetPage, type Selection, SortedCache } from "./gamma-pages.ts";
import {
  booleanParam,
  eventFilter,
  eventSortKey,
  integerParam,
  listParam,
  marketFilter,
  marketSortKey,
  numberParam,
  type Query,
  textParam,
  ValidationError,
} from "./gamma-query.ts";
import { searchEvents } from "./gamma-search.ts";
import { eventIndexOfOtherId } from "./ids.ts";
import type { Listing } from "./listing.ts";
import { isAugmented, marketState } from "./market-state.ts";
import { enforceRequestLimits } from "./request-limits.ts";
import { seriesObject, type Tag, tagsOf } from "./series-and-tags.ts";

const MARKETS_PAGE_MAX = 100;
const EVENTS_PAGE_MAX = 500;
const LEGACY_PAGE_MAX = 100;
const LEGACY_OFFSET_MAX = 2_000;
const PAGE_DEFAULT = 20;

const LIMIT_RULES = {
  total: 4_000,
  paths: [
    { name: "events", matches: (path: string) => path.startsWith("/events"), limit: 500 },
    { name: "markets", matches: (path: string) => path.startsWith("/markets"), limit: 300 },
    { name: "listings", matches: (path: string) => /^\/(events|markets)(\/keyset)?$/.test(path), limit: 900 },
    { name: "tags", matches: (path: string) => path.startsWith("/tags"), limit: 200 },
    { name: "search", matches: (path: string) => path === "/public-search", limit: 350 },
  ],
};

/** Markets, events, tags, series and search: the venue's catalogue. */
export function gammaService(context: ExchangeContext, listing: Listing): ExchangeService {
  return {
    venue: "polymarket",
    name: "gamma",
    basePath: "",
    scheme: "http",
    listener: "polymarket-gamma",
    install(app) {
      allowBrowsers(app);
      if (context.enforceLimits) enforceRequestLimits(app, LIMIT_RULES, context.now);
      app.setErrorHandler((error, _request, reply) => {
        if (error instanceof ValidationError) return unprocessable(reply, error.message);
        return reply.code(500).send({ type: "internal error", error: "internal server error" });
      });
      app.setNotFoundHandler((_request, reply) => notFound(reply, "page not found"));
      app.get("/status", async () => "OK");
      installListings(app, context, listing);
      installObjects(app, context, listing);
      installCatalogue(app, context, listing);
      installEmptyListings(app);
    },
  };
}

function notFound(reply: FastifyReply, error: string) {
  return reply.code(404).send({ type: "not found error", error });
}

function unprocessable(reply: FastifyReply, error: string) {
  return reply.code(422).send({ type: "validation error", error });
}

function clamp(limit: number | null, max: number): number {
  return Math.min(max, Math.max(1, limit ?? PAGE_DEFAULT));
}

function installListings(app: FastifyInstance, context: ExchangeContext, listing: Listing): void {
  const { world } = context;
  const cache = new SortedCache();
  const marketSelection = (query: Query, now: number): Selection<ListedMarket> => ({
    items: candidateMarkets(listing, query),
    matches: marketFilter(world, query, now),
    key: marketSortKey(world, query, now),
    ascending: booleanParam(query, "ascending") ?? true,
  });
  const eventSelection = (query: Query, now: number): Selection<ListedEvent> => ({
    items: candidateEvents(listing, query),
    matches: eventFilter(world, query, now),
    key: eventSortKey(world, query, now),
    ascending: booleanParam(query, "ascending") ?? true,
  });
  const marketObjects = (markets: readonly ListedMarket[], query: Query, now: number) => {
    const withTags = booleanParam(query, "include_tag") ?? false;
    const options = { withEvents: true, withTags, withLongChanges: false };
    return markets.map((market) => gammaMarket(world, marketState(world, market, now), now, options));
  };

  app.get<{ Querystring: Query }>("/markets/keyset", async ({ query }) => {
    const now = context.now();
    const page = keysetPage(
      cache,
      "markets",
      query,
      marketSelection(query, now),
      keysetParams(query, MARKETS_PAGE_MAX),
      now,
    );
    return {
      markets: marketObjects(page.items, query, now),
      ...(page.next === null ? {} : { next_cursor: page.next }),
    };
  });
  app.get<{ Querystring: Query }>("/events/keyset", async ({ query }) => {
    const now = context.now();
    const page = keysetPage(
      cache,
      "events",
      query,
      eventSelection(query, now),
      keysetParams(query, EVENTS_PAGE_MAX),
      now,
    );
    const events = page.items.map((event) => gammaEvent(world, event, now));
    return { events, ...(page.next === null ? {} : { next_cursor: page.next }) };
  });
  app.get<{ Querystring: Query }>("/markets", async ({ query }) => {
    const now = context.now();
    const page = offsetPage(cache, "markets", query, marketSelection(query, now), offsetParams(query), now);
    return marketObjects(page.items, query, now);
  });
  app.get<{ Querystring: Query }>("/events", async ({ query }) => {
    const now = context.now();
    const page = offsetPage(cache, "events", query, eventSelection(query, now), offsetParams(query), now);
    return page.items.map((event) => gammaEvent(world, event, now));
  });
  app.get<{ Querystring: Query }>("/events/pagination", async ({ query }) => {
    const now = context.now();
    const { limit, offset } = offsetParams(query);
    const page = offsetPage(cache, "events", query, eventSelection(query, now), { limit, offset }, now);
    return {
      data: page.items.map((event) => gammaEvent(world, event, now)),
      pagination: { hasMore: offset + limit < page.total, totalResults: page.total },
    };
  });
}

/** A parameter called `cursor` is not looked at: who sends it reads the first page for ever, as on the real venue. */
function keysetParams(query: Query, limitMax: number) {
  if (query.offset !== undefined) throw new ValidationError("offset is not supported, use after_cursor");
  return { limit: clamp(integerParam(query, "limit"), limitMax), after: textParam(query, "after_cursor") };
}

function offsetParams(query: Query) {
  const offset = integerParam(query, "offset") ?? 0;
  if (offset > LEGACY_OFFSET_MAX)
    throw new ValidationError("offset too large, use /markets/keyset for deeper pagination");
  return { limit: clamp(integerParam(query, "limit"), LEGACY_PAGE_MAX), offset };
}

const byIndex = (a: { readonly index: number }, b: { readonly index: number }) => a.index - b.index;
const present = <Item>(item: Item | null): item is Item => item !== null;

/** Filters by id name few markets: look those up instead of testing all. */
function candidateMarkets(listing: Listing, query: Query): readonly ListedMarket[] {
  const named =
    listParam(query, "id")?.map((id) => listing.marketById(id)) ??
    listParam(query, "condition_ids")?.map((id) => listing.marketByCondition(id)) ??
    listParam(query, "clob_token_ids")?.map((token) => listing.marketByToken(token)?.market ?? null) ??
    listParam(query, "slug")?.map((slug) => listing.marketBySlug(slug));
  return named === undefined ? listing.markets() : [...new Set(named.filter(present))].sort(byIndex);
}

function candidateEvents(listing: Listing, query: Query): readonly ListedEvent[] {
  const named =
    listParam(query, "id")?.map((id) => listing.eventById(id)) ??
    listParam(query, "slug")?.map((slug) => listing.eventBySlug(slug));
  return named === undefined ? listing.events() : [...new Set(named.filter(present))].sort(byIndex);
}

function installObjects(app: FastifyInstance, context: ExchangeContext, listing: Listing): void {
  const { world } = context;
  const sendMarket = (reply: FastifyReply, market: ListedMarket | null, query: Query, missing: string) => {
    if (market === null) return notFound(reply, missing);
    const now = context.now();
    const withTags = booleanParam(query, "include_tag") ?? false;
    return gammaMarket(world, marketState(world, market, now), now, {
      withEvents: true,
      withTags,
      withLongChanges: true,
    });
  };
  type ById = { Params: { id: string }; Querystring: Query };
  type BySlug = { Params: { slug: string }; Querystring: Query };
  const assertId = (id: string) => {
    if (!/^\d{1,15}$/.test(id)) throw new ValidationError("id is invalid");
  };

  app.get<ById>("/markets/:id", async ({ params, query }, reply) => {
    assertId(params.id);
    const event = listing.eventByIndex(eventIndexOfOtherId(params.id));
    if (event !== null && event.recorded === undefined && isAugmented(event))
      return otherMarket(event, isEventClosed(event, context.now()));
    return sendMarket(reply, listing.marketById(params.id), query, "id not found");
  });
  app.get<BySlug>("/markets/slug/:slug", async ({ params, query }, reply) =>
    sendMarket(reply, listing.marketBySlug(params.slug), query, "slug not found"),
  );
  app.get<ById>("/markets/:id/tags", async ({ params }, reply) => {
    assertId(params.id);
    const market = listing.marketById(params.id);
    return market === null ? notFound(reply, "id not found") : tagsOf(market.event);
  });
  app.get<ById>("/events/:id", async ({ params }, reply) => {
    assertId(params.id);
    const event = listing.eventById(params.id);
    return event === null ? notFound(reply, "id not found") : gammaEvent(world, event, context.now());
  });
  app.get<BySlug>("/events/slug/:slug", async ({ params }, reply) => {
    const event = listing.eventBySlug(params.slug);
    return event === null ? notFound(reply, "slug not found") : gammaEvent(world, event, context.now());
  });
  app.get<ById>("/events/:id/tags", async ({ params }, reply) => {
    assertId(params.id);
    const event = listing.eventById(params.id);
    return event === null ? notFound(reply, "id not found") : tagsOf(event);
  });
}

function installCatalogue(app: FastifyInstance, context: ExchangeContext, listing: Listing): void {
  const allTags = (): Tag[] => {
    const byId = new Map<string, Tag>();
    for (const event of listing.events()) for (const tag of tagsOf(event)) byId.set(tag.id, tag);
    return [...byId.values()].sort((a, b) => Number(a.id) - Number(b.id));
  };
  const allSeries = () => {
    const bySlug = new Map<string, ReturnType<typeof seriesObject>>();
    for (const event of listing.events()) if (!bySlug.has(event.series)) bySlug.set(event.series, seriesObject(event));
    return [...bySlug.values()].sort((a, b) => Number(a.id) - Number(b.id));
  };
  const sliceOf = <Item>(items: readonly Item[], query: Query) => {
    const limit = clamp(integerParam(query, "limit") ?? LEGACY_PAGE_MAX, LEGACY_PAGE_MAX);
    const offset = integerParam(query, "offset") ?? 0;
    return items.slice(offset, offset + limit);
  };
  type ByIdOrSlug = { Params: { key: string } };

  app.get<{ Querystring: Query }>("/tags", async ({ query }) => sliceOf(allTags(), query));
  app.get<ByIdOrSlug>("/tags/:key", async ({ params }, reply) => {
    return allTags().find((tag) => tag.id === params.key) ?? notFound(reply, "id not found");
  });
  app.get<ByIdOrSlug>("/tags/slug/:key", async ({ params }, reply) => {
    return allTags().find((tag) => tag.slug === params.key) ?? notFound(reply, "slug not found");
  });
  // Nothing says here which tags go together.
  for (const path of ["/tags/:key/related-tags", "/tags/:key/related-tags/tags"]) {
    app.get<ByIdOrSlug>(path, async ({ params }, reply) => {
      return allTags().some((tag) => tag.id === params.key) ? [] : notFound(reply, "id not found");
    });
  }
  for (const path of ["/tags/slug/:key/related-tags", "/tags/slug/:key/related-tags/tags"]) {
    app.get<ByIdOrSlug>(path, async ({ params }, reply) => {
      return allTags().some((tag) => tag.slug === params.key) ? [] : notFound(reply, "slug not found");
    });
  }
  app.get<{ Querystring: Query }>("/series", async ({ query }) => {
    const slug = textParam(query, "slug");
    return sliceOf(slug === null ? allSeries() : allSeries().filter((series) => series.slug === slug), query);
  });
  app.get<ByIdOrSlug>("/series/:key", async ({ params }, reply) => {
    return allSeries().find((series) => series.id === params.key) ?? notFound(reply, "id not found");
  });
  app.get<{ Querystring: Query }>("/public-search", async ({ query }) => {
    const text = textParam(query, "q");
    if (text === null) throw new ValidationError("q is required");
    // Unlike the listings, the search knows its fields in snake case: volume_24hr, end_date.
    const sort = textParam(query, "sort")?.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    return searchEvents(context, listing, {
      text,
      key: sort === undefined ? null : eventSortKey(context.world, { order: sort }, context.now()),
      ascending: booleanParam(query, "ascending") ?? false,
      limit: clamp(numberParam(query, "limit_per_type"), 50),
      page: Math.max(1, integerParam(query, "page") ?? 1),
      status: textParam(query, "events_status"),
      keepClosed: textParam(query, "keep_closed_markets") !== "0",
      withTags: booleanParam(query, "search_tags") ?? false,
      tags: allTags,
    });
  });
}
