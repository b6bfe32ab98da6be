import type { FastifyInstance, FastifyReply } from "fastify";
import type { ListedMarket } from "../../world/types.ts";
import { allowCrossOriginRequests } from "../cross-origin.ts";
import type { ExchangeContext, ExchangeService } from "../exchange.ts";
import type { Catalogue } from "./catalogue.ts";
import { gammaEvent, gammaMarket, isEventClosed, isMarketClosed } from "./gamma-json.ts";
import { keysetPage } from "./gamma-paging.ts";
import { enforceRequestLimits } from "./limits.ts";
import { marketState } from "./market-state.ts";
import { booleanParam, listParam, type Query, ValidationError } from "./query.ts";

const MARKETS_PAGE_MAX = 100;
const EVENTS_PAGE_MAX = 500;
const IDS_MAX = 100;

const LIMIT_RULES = {
  total: 4_000,
  paths: [
    { name: "events", matches: (path: string) => path.startsWith("/events"), limit: 500 },
    { name: "markets", matches: (path: string) => path.startsWith("/markets"), limit: 300 },
    { name: "listings", matches: (path: string) => /^\/(events|markets)\/keyset$/.test(path), limit: 900 },
  ],
};

/** Gamma, the venue's catalogue of markets and events. */
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
      app.setNotFoundHandler((_request, reply) => notFound(reply, "page not found"));
      installRoutes(app, context, catalogue);
    },
  };
}

function notFound(reply: FastifyReply, error: string) {
  return reply.code(404).send({ type: "not found error", error });
}

function assertId(id: string): void {
  if (!/^\d{1,15}$/.test(id)) throw new ValidationError("id is invalid");
}

/** Unknown parameters are ignored, as by the venue. */
function installRoutes(app: FastifyInstance, { world, now }: ExchangeContext, catalogue: Catalogue): void {
  type List = { Querystring: Query };
  type ById = { Params: { id: string }; Querystring: Query };
  const presentMarket = (market: ListedMarket, query: Query, at: number, withLongChanges: boolean) => {
    const withTags = booleanParam(query, "include_tag") ?? false;
    return gammaMarket(world, marketState(world, market, at), at, { withEvents: true, withTags, withLongChanges });
  };

  app.get<List>("/markets/keyset", async ({ query }) => {
    const at = now();
    const closed = booleanParam(query, "closed");
    const { page, nextCursor } = keysetPage(
      candidateMarkets(catalogue, query),
      query,
      MARKETS_PAGE_MAX,
      (market) => closed === null || isMarketClosed(market, at) === closed,
    );
    return { markets: page.map((market) => presentMarket(market, query, at, false)), next_cursor: nextCursor };
  });
  app.get<List>("/events/keyset", async ({ query }) => {
    const at = now();
    const closed = booleanParam(query, "closed");
    const { page, nextCursor } = keysetPage(
      catalogue.events(),
      query,
      EVENTS_PAGE_MAX,
      (event) => closed === null || isEventClosed(event, at) === closed,
    );
    return { events: page.map((event) => gammaEvent(world, event, at)), next_cursor: nextCursor };
  });
  app.get<ById>("/markets/:id", async ({ params, query }, reply) => {
    assertId(params.id);
    const market = catalogue.marketById(params.id);
    return market === null ? notFound(reply, "id not found") : presentMarket(market, query, now(), true);
  });
  app.get<ById>("/events/:id", async ({ params }, reply) => {
    assertId(params.id);
    const event = catalogue.eventById(params.id);
    return event === null ? notFound(reply, "id not found") : gammaEvent(world, event, now());
  });
}

/** The markets of the parameter `id`, sorted by index, or all markets if it is absent. */
function candidateMarkets(catalogue: Catalogue, query: Query): readonly ListedMarket[] {
  const ids = listParam(query, "id");
  if (ids === null) return catalogue.markets();
  if (ids.length > IDS_MAX) throw new ValidationError(`id takes at most ${IDS_MAX} values`);
  const found = new Set(ids.map((id) => catalogue.marketById(id)).filter((market) => market !== null));
  return [...found].sort((a, b) => a.index - b.index);
}
