import type { FastifyInstance, FastifyReply } from "fastify";
import type { ListedMarket } from "../../world/types.ts";
import { allowCrossOriginRequests } from "../cross-origin.ts";
import type { ExchangeContext, ExchangeService } from "../exchange.ts";
import type { Catalogue } from "./catalogue.ts";
import { presentClobMarket, presentSimplifiedMarket } from "./clob-json.ts";
import { installPrices } from "./clob-prices.ts";
import { enforceRequestLimits } from "./limits.ts";
import { computeMarketState, isMarketClosed, type MarketState, rewardsOf } from "./market-state.ts";
import { parseIntegerParam, parseTextParam, type Query, ValidationError } from "./query.ts";
import { presentClobActivity } from "./trades.ts";

const PAGE_MAX = 1_000;
const SAMPLING_PAGE_MAX = 500;
/** Base64 of "-1", the `next_cursor` of the last page. */
const END_CURSOR = "LTE=";

const equals = (path: string) => (requested: string) => requested === path;
const LIMIT_RULES = {
  total: 9_000,
  paths: [
    { name: "book", matches: equals("/book"), limit: 1_500 },
    { name: "books", matches: equals("/books"), limit: 500 },
    { name: "price", matches: equals("/price"), limit: 1_500 },
    { name: "midpoint", matches: equals("/midpoint"), limit: 1_500 },
    { name: "prices", matches: equals("/prices"), limit: 500 },
    { name: "midpoints", matches: equals("/midpoints"), limit: 500 },
    { name: "history", matches: equals("/prices-history"), limit: 1_000 },
    { name: "tick", matches: equals("/tick-size"), limit: 200 },
  ],
};

/** The CLOB's public read interface: markets, order books, prices and price history. */
export function clobService(context: ExchangeContext, catalogue: Catalogue): ExchangeService {
  return {
    venue: "polymarket",
    name: "clob",
    basePath: "",
    scheme: "http",
    listener: "polymarket-clob",
    install(app) {
      allowCrossOriginRequests(app);
      if (context.enforceLimits) enforceRequestLimits(app, LIMIT_RULES, context.now);
      app.setErrorHandler((error, _request, reply) => {
        if (error instanceof ValidationError) return reply.code(400).send({ error: error.message });
        const isBadRequest =
          typeof error === "object" && error !== null && "statusCode" in error && error.statusCode === 400;
        return reply
          .code(isBadRequest ? 400 : 500)
          .send({ error: isBadRequest ? "Invalid payload" : "internal server error" });
      });
      app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: "not found" }));
      app.get("/", async (_request, reply) => reply.type("application/json").send('"OK"'));
      app.get("/time", async (_request, reply) =>
        reply.type("application/json").send(String(Math.floor(context.now() / 1000))),
      );
      installMarkets(app, context, catalogue);
      installPrices(app, context, catalogue);
    },
  };
}

/** Reads the offset from the cursor, which is the base64-encoded offset. */
function parseOffset(query: Query): number {
  const cursor = parseTextParam(query, "next_cursor");
  if (cursor === null) return 0;
  const text = Buffer.from(cursor, "base64").toString("utf8");
  if (text === "-1") throw new ValidationError("next item should be greater than or equal to 0");
  if (!/^\d{1,9}$/.test(text)) throw new ValidationError("Invalid next_cursor");
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
    app.get<ByCondition>(url, async ({ params }, reply: FastifyReply) => {
      const market = catalogue.findMarketByCondition(params.conditionId);
      return market === null ? reply.code(404).send({ error: "market not found" }) : present(market);
    });
  };
  registerByCondition("/markets/:conditionId", (market) => presentClobMarket(stateOf(market)));
  registerByCondition("/live-activity/events/:conditionId", (market) =>
    presentClobActivity(world, market, context.now()),
  );
}
