import type { FastifyInstance } from "fastify";
import type { ListedMarket } from "../../world/types.ts";
import { VenueError } from "../errors.ts";
import type { ExchangeContext, ExchangeService } from "../exchange.ts";
import { parseListParam, parseTextParam, type Query } from "../query.ts";
import { type Catalogue, positionAfter } from "./catalogue.ts";
import { isEventClosed, presentGammaEvent, presentGammaMarket } from "./gamma-json.ts";
import type { RequestLimits } from "./limits.ts";
import { computeMarketState, isMarketClosed } from "./market-state.ts";
import { createInvalidError, parseBooleanParam, parseIntegerParam } from "./query.ts";
import { createRestHost } from "./rest-host.ts";

const PAGE_MAX = 100;
const PAGE_DEFAULT = 20;

const REQUEST_LIMITS: RequestLimits = {
  host: 4_000,
  paths: [
    [/^\/events/, 500],
    [/^\/markets/, 300],
    [/^\/(events|markets)\/keyset$/, 900],
  ],
};

const ERROR_TYPES: Readonly<Record<number, string>> = { 400: "validation error", 404: "not found error" };

/** Gamma, the venue's catalogue: markets and events. */
export const gammaService = (context: ExchangeContext, catalogue: Catalogue): ExchangeService =>
  createRestHost(
    "gamma",
    context,
    REQUEST_LIMITS,
    (app) => {
      installLists(app, context, catalogue);
      installObjects(app, context, catalogue);
    },
    {
      statusOf: ({ status }) => (status === 400 ? 422 : status),
      toBody: ({ status, message }) => ({ type: ERROR_TYPES[status] ?? "internal error", error: message }),
      notFound: () => "page not found",
    },
  );

/** Registers the lists of markets and events. */
function installLists(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  const { world } = context;
  type ByQuery = { Querystring: Query };
  app.get<ByQuery>("/markets/keyset", async ({ query }) => {
    const now = context.now();
    const markets = withClosed(findMarkets(catalogue, query), query, (market) => isMarketClosed(world, market, now));
    const { items, ...cursor } = selectKeysetPage(markets, query);
    const withTags = parseBooleanParam(query, "include_tag") ?? false;
    return {
      markets: items.map((market) =>
        presentGammaMarket(world, computeMarketState(world, market, now), now, { withEvents: true, withTags }),
      ),
      ...cursor,
    };
  });
  app.get<ByQuery>("/events/keyset", async ({ query }) => {
    const now = context.now();
    const events = withClosed(catalogue.listEvents(), query, (event) => isEventClosed(event, now));
    const { items, ...cursor } = selectKeysetPage(events, query);
    return { events: items.map((event) => presentGammaEvent(world, event, now)), ...cursor };
  });
}

/** Returns the page size. Values outside [1, PAGE_MAX] are clamped without an error. */
const clampLimit = (limit: number | null) => Math.min(PAGE_MAX, Math.max(1, limit ?? PAGE_DEFAULT));

/** Returns the markets of the `id` parameters; without the parameter, all markets. */
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
  if (query.offset !== undefined) throw createInvalidError("offset is not supported, use after_cursor");
  const after = parseTextParam(query, "after_cursor");
  const index = after === null ? -1 : Number(Buffer.from(after, "base64url").toString("utf8") || "none");
  if (!Number.isInteger(index)) throw createInvalidError("invalid after_cursor");
  const start = positionAfter(items, index);
  const end = start + clampLimit(parseIntegerParam(query, "limit"));
  const page = items.slice(start, end);
  const last = page.at(-1);
  if (last === undefined || end >= items.length) return { items: page };
  return { items: page, next_cursor: Buffer.from(String(last.index)).toString("base64url") };
}

function installObjects(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  const { world } = context;
  type ById = { Params: { id: string }; Querystring: Query };
  const parseId = ({ id }: ById["Params"]) => {
    if (!/^\d{1,15}$/.test(id)) throw createInvalidError("id is invalid");
    return id;
  };
  app.get<ById>("/markets/:id", async ({ params, query }) => {
    const market = catalogue.findMarketById(parseId(params));
    if (market === null) throw new VenueError(404, "id not found");
    const now = context.now();
    const withTags = parseBooleanParam(query, "include_tag") ?? false;
    return presentGammaMarket(world, computeMarketState(world, market, now), now, { withEvents: true, withTags });
  });
  app.get<ById>("/events/:id", async ({ params }) => {
    const event = catalogue.findEventById(parseId(params));
    if (event === null) throw new VenueError(404, "id not found");
    return presentGammaEvent(world, event, context.now());
  });
}
