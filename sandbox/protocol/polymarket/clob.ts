import type { FastifyInstance } from "fastify";
import type { ListedMarket } from "../../world/types.ts";
import { VenueError } from "../errors.ts";
import type { ExchangeContext, ExchangeService } from "../exchange.ts";
import { parseTextParam, type Query } from "../query.ts";
import type { Catalogue } from "./catalogue.ts";
import { presentClobMarket, presentSimplifiedMarket } from "./clob-json.ts";
import { installPrices } from "./clob-prices.ts";
import type { RequestLimits } from "./limits.ts";
import { computeMarketState, isMarketClosed, type MarketState, rewardsOf } from "./market-state.ts";
import { createInvalidError, parseIntegerParam } from "./query.ts";
import { createRestHost } from "./rest-host.ts";
import { presentClobActivity } from "./trades.ts";

const PAGE_MAX = 1_000;
const SAMPLING_PAGE_MAX = 500;
/** Base64 of "-1", the `next_cursor` of the last page. */
const END_CURSOR = "LTE=";

const REQUEST_LIMITS: RequestLimits = {
  host: 9_000,
  paths: [
    [/^\/book$/, 1_500],
    [/^\/books$/, 500],
    [/^\/price$/, 1_500],
    [/^\/midpoint$/, 1_500],
    [/^\/prices$/, 500],
    [/^\/midpoints$/, 500],
    [/^\/prices-history$/, 1_000],
  ],
};

/** The CLOB's public read interface: markets, order books, prices and price history. */
export const clobService = (context: ExchangeContext, catalogue: Catalogue): ExchangeService =>
  createRestHost("clob", context, REQUEST_LIMITS, (app) => {
    app.get("/", async (_request, reply) => reply.type("application/json").send('"OK"'));
    app.get("/time", async (_request, reply) =>
      reply.type("application/json").send(String(Math.floor(context.now() / 1000))),
    );
    installMarkets(app, context, catalogue);
    installPrices(app, context, catalogue);
  });

/** Reads the offset from the cursor, which is the base64-encoded offset. */
function parseOffset(query: Query): number {
  const cursor = parseTextParam(query, "next_cursor");
  if (cursor === null) return 0;
  const text = Buffer.from(cursor, "base64").toString("utf8");
  if (text === "-1") throw createInvalidError("next item should be greater than or equal to 0");
  if (!/^\d{1,9}$/.test(text)) throw createInvalidError("Invalid next_cursor");
  return Number(text);
}

function selectPage<Item>(
  items: readonly Item[],
  query: Query,
  limitMax: number,
): { items: readonly Item[]; envelope: { limit: number; count: number; next_cursor: string } } {
  const offset = parseOffset(query);
  const limit = Math.min(limitMax, Math.max(1, parseIntegerParam(query, "limit") ?? limitMax));
  const page = items.slice(offset, offset + limit);
  const next = offset + page.length;
  const isEnd = page.length === 0 || next >= items.length;
  return {
    items: page,
    envelope: {
      limit,
      count: page.length,
      next_cursor: isEnd ? END_CURSOR : Buffer.from(String(next)).toString("base64"),
    },
  };
}

function installMarkets(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  const { world } = context;
  const stateOf = (market: ListedMarket) => computeMarketState(world, market, context.now());
  /** Returns open markets with liquidity rewards. */
  const findSamplingMarkets = () => {
    const now = context.now();
    return catalogue
      .listMarkets()
      .filter((market) => rewardsOf(market) !== null && !isMarketClosed(world, market, now));
  };
  const registerList = (
    url: string,
    limitMax: number,
    markets: () => readonly ListedMarket[],
    present: (state: MarketState) => unknown,
  ) => {
    app.get<{ Querystring: Query }>(url, async ({ query }) => {
      const { items, envelope } = selectPage(markets(), query, limitMax);
      return { data: items.map((market) => present(stateOf(market))), ...envelope };
    });
  };
  registerList("/markets", PAGE_MAX, () => catalogue.listMarkets(), presentClobMarket);
  registerList("/simplified-markets", PAGE_MAX, () => catalogue.listMarkets(), presentSimplifiedMarket);
  registerList("/sampling-markets", SAMPLING_PAGE_MAX, findSamplingMarkets, presentClobMarket);
  registerList("/sampling-simplified-markets", SAMPLING_PAGE_MAX, findSamplingMarkets, presentSimplifiedMarket);

  type ByCondition = { Params: { conditionId: string } };
  const registerByCondition = (url: string, present: (market: ListedMarket) => unknown) => {
    app.get<ByCondition>(url, async ({ params }) => {
      const market = catalogue.findMarketByCondition(params.conditionId);
      if (market === null) throw new VenueError(404, "market not found");
      return present(market);
    });
  };
  registerByCondition("/markets/:conditionId", (market) => presentClobMarket(stateOf(market)));
  registerByCondition("/live-activity/events/:conditionId", (market) =>
    presentClobActivity(world, market, context.now()),
  );
}
