import type { FastifyInstance, FastifyReply } from "fastify";
import type { ListedEvent, ListedMarket } from "../../world/types.ts";
import { allowCrossOriginRequests } from "../cross-origin.ts";
import type { ExchangeContext, ExchangeService } from "../exchange.ts";
import { type Catalogue, positionAfter } from "./catalogue.ts";
import { isEventClosed, presentGammaEvent, presentGammaMarket } from "./gamma-json.ts";
import { enforceRequestLimits } from "./limits.ts";
import { computeMarketState, isMarketClosed } from "./market-state.ts";
import {
  parseBooleanParam,
  parseIntegerParam,
  parseListParam,
  parseTextParam,
  type Query,
  ValidationError,
} from "./query.ts";

const PAGE_MAX = 100;
const PAGE_DEFAULT = 20;
const OFFSET_MAX = 2_000;

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
    },
  };
}

function sendNotFound(reply: FastifyReply, error: string) {
  return reply.code(404).send({ type: "not found error", error });
}

/** Registers the lists of markets and events: with cursors, and in the older form with offsets. */
function installLists(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  const { world } = context;
  const selectMarkets = (query: Query) =>
    withClosed(findMarkets(catalogue, query), query, (market) => isMarketClosed(world, market, context.now()));
  const selectEvents = (query: Query) =>
    withClosed(catalogue.listEvents(), query, (event) => isEventClosed(event, context.now()));
  const presentMarkets = (markets: readonly ListedMarket[], query: Query) => {
    const now = context.now();
    const withTags = parseBooleanParam(query, "include_tag") ?? false;
    return markets.map((market) =>
      presentGammaMarket(world, computeMarketState(world, market, now), now, { withEvents: true, withTags }),
    );
  };
  const presentEvents = (events: readonly ListedEvent[]) =>
    events.map((event) => presentGammaEvent(world, event, context.now()));
  type ByQuery = { Querystring: Query };

  app.get<ByQuery>("/markets/keyset", async ({ query }) => {
    const { items, ...cursor } = selectKeysetPage(selectMarkets(query), query);
    return { markets: presentMarkets(items, query), ...cursor };
  });
  app.get<ByQuery>("/events/keyset", async ({ query }) => {
    const { items, ...cursor } = selectKeysetPage(selectEvents(query), query);
    return { events: presentEvents(items), ...cursor };
  });
  app.get<ByQuery>("/markets", async ({ query }) =>
    presentMarkets(selectOffsetPage(selectMarkets(query), query), query),
  );
  app.get<ByQuery>("/events", async ({ query }) => presentEvents(selectOffsetPage(selectEvents(query), query)));
  app.get<ByQuery>("/public-search", async ({ query }) => {
    const words = parseTextParam(query, "q")?.toLowerCase().split(/\s+/) ?? [];
    if (words.length === 0) throw new ValidationError("q is required");
    const hits = catalogue.listEvents().filter(({ title, markets }) => {
      const text = [title, ...markets.map(({ question }) => question)].join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const limit = clampLimit(parseIntegerParam(query, "limit_per_type"));
    const pagination = { hasMore: hits.length > limit, totalResults: hits.length };
    return { events: presentEvents(hits.slice(0, limit)), pagination };
  });
}

/** Limits outside [1, PAGE_MAX] are clamped without an error. */
const clampLimit = (limit: number | null) => Math.min(PAGE_MAX, Math.max(1, limit ?? PAGE_DEFAULT));

/** Returns the markets of the `id` parameters, or all markets without it. */
function findMarkets(catalogue: Catalogue, query: Query): readonly ListedMarket[] {
  const ids = parseListParam(query, "id");
  if (ids === null) return catalogue.listMarkets();
  const markets = ids.map((id) => catalogue.findMarketById(id)).filter((market) => market !== null);
  return [...new Set(markets)].sort((a, b) => a.index - b.index);
}

function withClosed<Item>(items: readonly Item[], query: Query, isClosed: (item: Item) => boolean): readonly Item[] {
  const closed = parseBooleanParam(query, "closed");
  return closed === null ? items : items.filter((item) => isClosed(item) === closed);
}

/**
 * Returns one page in the order of the ids. The cursor is the index of the last item; the last page has none. The venue
 * ignores the parameter `cursor`: a client that sends it always receives the first page.
 */
function selectKeysetPage<Item extends { readonly index: number }>(items: readonly Item[], query: Query) {
  if (query.offset !== undefined) throw new ValidationError("offset is not supported, use after_cursor");
  const after = parseTextParam(query, "after_cursor");
  const index = after === null ? -1 : Number(Buffer.from(after, "base64url").toString("utf8") || "none");
  if (!Number.isInteger(index)) throw new ValidationError("invalid after_cursor");
  const start = positionAfter(items, index);
  const end = start + clampLimit(parseIntegerParam(query, "limit"));
  const page = items.slice(start, end);
  const last = page.at(-1);
  if (last === undefined || end >= items.length) return { items: page };
  return { items: page, next_cursor: Buffer.from(String(last.index)).toString("base64url") };
}

function selectOffsetPage<Item>(items: readonly Item[], query: Query): readonly Item[] {
  const offset = parseIntegerParam(query, "offset") ?? 0;
  if (offset > OFFSET_MAX) throw new ValidationError("offset too large, use /markets/keyset for deeper pagination");
  return items.slice(offset, offset + clampLimit(parseIntegerParam(query, "limit")));
}

function installObjects(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  const { world } = context;
  type ById = { Params: { id: string }; Querystring: Query };
  const parseId = ({ id }: ById["Params"]) => {
    if (!/^\d{1,15}$/.test(id)) throw new ValidationError("id is invalid");
    return id;
  };
  app.get<ById>("/markets/:id", async ({ params, query }, reply) => {
    const market = catalogue.findMarketById(parseId(params));
    if (market === null) return sendNotFound(reply, "id not found");
    const now = context.now();
    const withTags = parseBooleanParam(query, "include_tag") ?? false;
    return presentGammaMarket(world, computeMarketState(world, market, now), now, { withEvents: true, withTags });
  });
  app.get<ById>("/events/:id", async ({ params }, reply) => {
    const event = catalogue.findEventById(parseId(params));
    return event === null ? sendNotFound(reply, "id not found") : presentGammaEvent(world, event, context.now());
  });
}
