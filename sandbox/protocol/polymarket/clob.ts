import type { FastifyInstance, FastifyReply } from "fastify";
import type { ListedMarket } from "../../world/types.ts";
import { allowBrowsers } from "../browser-access.ts";
import type { ExchangeContext, ExchangeService } from "../exchange.ts";
import { clobMarket, compactMarket, rewardObject, simplifiedMarket } from "./clob-objects.ts";
import { installPrices } from "./clob-prices.ts";
import { isMarketClosed } from "./gamma-objects.ts";
import { integerParam, type Query, textParam, ValidationError } from "./gamma-query.ts";
import { polymarketConditionId, polymarketTokenIds } from "./ids.ts";
import type { Listing } from "./listing.ts";
import { type MarketState, marketState, rewardsOf } from "./market-state.ts";
import { enforceRequestLimits } from "./request-limits.ts";
import { clobActivity } from "./tape.ts";

const PAGE_MAX = 1_000;
const SAMPLING_PAGE_MAX = 500;
/** Of the contracts that orders are made for. */
const EXCHANGE_VERSION = 2;
/** Base64 of "-1". */
const END_CURSOR = "LTE=";

const exactly = (path: string) => (asked: string) => asked === path;
const LIMIT_RULES = {
  total: 9_000,
  paths: [
    { name: "book", matches: exactly("/book"), limit: 1_500 },
    { name: "books", matches: exactly("/books"), limit: 500 },
    { name: "price", matches: exactly("/price"), limit: 1_500 },
    { name: "midpoint", matches: exactly("/midpoint"), limit: 1_500 },
    { name: "prices", matches: exactly("/prices"), limit: 500 },
    { name: "midpoints", matches: exactly("/midpoints"), limit: 500 },
    { name: "history", matches: exactly("/prices-history"), limit: 1_000 },
    { name: "tick", matches: exactly("/tick-size"), limit: 200 },
  ],
};

/** What only a signed request may do or see. */
const SIGNED_PATHS = [
  "/auth/*",
  "/order",
  "/orders",
  "/cancel-all",
  "/cancel-market-orders",
  "/data/*",
  "/order-scoring",
  "/orders-scoring",
  "/notifications",
  "/balance-allowance",
  "/balance-allowance/*",
  "/rewards/user",
  "/rewards/user/*",
  "/builder/*",
  "/v1/heartbeats",
  "/rfq/*",
];

/** Order books, prices and the venue's trading view of markets. Public reads only: orders are refused as unsigned. */
export function clobService(context: ExchangeContext, listing: Listing): ExchangeService {
  return {
    venue: "polymarket",
    name: "clob",
    basePath: "",
    scheme: "http",
    listener: "polymarket-clob",
    install(app) {
      allowBrowsers(app);
      if (context.enforceLimits) enforceRequestLimits(app, LIMIT_RULES, context.now);
      app.setErrorHandler((error, _request, reply) => {
        if (error instanceof ValidationError) return reply.code(400).send({ error: error.message });
        const isClientFault =
          typeof error === "object" && error !== null && "statusCode" in error && error.statusCode === 400;
        return reply
          .code(isClientFault ? 400 : 500)
          .send({ error: isClientFault ? "Invalid payload" : "internal server error" });
      });
      app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: "not found" }));
      app.get("/", async (_request, reply) => reply.type("application/json").send('"OK"'));
      app.get("/ok", async (_request, reply) => reply.type("application/json").send('"OK"'));
      app.get("/time", async (_request, reply) =>
        reply.type("application/json").send(String(Math.floor(context.now() / 1000))),
      );
      app.get("/version", async () => ({ version: EXCHANGE_VERSION }));
      // Nobody has made enough here to be given some of it back.
      app.get("/rebates/current", async (_request, reply) => reply.type("application/json").send("null"));
      installMarkets(app, context, listing);
      installRewards(app, context, listing);
      installPrices(app, context, listing);
      for (const url of SIGNED_PATHS) {
        app.route({
          method: ["GET", "POST", "DELETE"],
          url,
          handler: async (_request, reply) => reply.code(401).send({ error: "Unauthorized/Invalid api key" }),
        });
      }
    },
  };
}

/** Cursors of this host are the base64 of an offset. */
function offsetOf(query: Query): number {
  const cursor = textParam(query, "next_cursor");
  if (cursor === null) return 0;
  const text = Buffer.from(cursor, "base64").toString("utf8");
  if (text === "-1") throw new ValidationError("next item should be greater than or equal to 0");
  if (!/^\d{1,9}$/.test(text)) throw new ValidationError("Invalid next_cursor");
  return Number(text);
}

function pageOf<Item>(
  items: readonly Item[],
  query: Query,
  limitMax: number,
): { items: readonly Item[]; envelope: { limit: number; count: number; next_cursor: string } } {
  const offset = offsetOf(query);
  const limit = Math.min(limitMax, Math.max(1, integerParam(query, "limit") ?? limitMax));
  const shown = items.slice(offset, offset + limit);
  const next = offset + shown.length;
  const isEnd = shown.length === 0 || next >= items.length;
  return {
    items: shown,
    envelope: {
      limit,
      count: shown.length,
      next_cursor: isEnd ? END_CURSOR : Buffer.from(String(next)).toString("base64"),
    },
  };
}

function installMarkets(app: FastifyInstance, context: ExchangeContext, listing: Listing): void {
  const { world } = context;
  const stateOf = (market: ListedMarket) => marketState(world, market, context.now());
  const sampled = () => {
    const now = context.now();
    return listing.markets().filter((market) => rewardsOf(market) !== null && !isMarketClosed(market, now));
  };
  const list = (
    url: string,
    limitMax: number,
    markets: () => readonly ListedMarket[],
    show: (state: MarketState) => unknown,
  ) => {
    app.get<{ Querystring: Query }>(url, async ({ query }) => {
      const { items, envelope } = pageOf(markets(), query, limitMax);
      return { data: items.map((market) => show(stateOf(market))), ...envelope };
    });
  };
  list("/markets", PAGE_MAX, () => listing.markets(), clobMarket);
  list("/simplified-markets", PAGE_MAX, () => listing.markets(), simplifiedMarket);
  list("/sampling-markets", SAMPLING_PAGE_MAX, sampled, clobMarket);
  list("/sampling-simplified-markets", SAMPLING_PAGE_MAX, sampled, simplifiedMarket);

  type ByCondition = { Params: { conditionId: string } };
  const byCondition = (url: string, show: (market: ListedMarket) => unknown) => {
    app.get<ByCondition>(url, async ({ params }, reply: FastifyReply) => {
      const market = listing.marketByCondition(params.conditionId);
      return market === null ? reply.code(404).send({ error: "market not found" }) : show(market);
    });
  };
  byCondition("/markets/:conditionId", (market) => clobMarket(stateOf(market)));
  byCondition("/clob-markets/:conditionId", (market) => compactMarket(stateOf(market)));
  for (const path of ["/live-activity/events/:conditionId", "/markets/live-activity/:conditionId"]) {
    byCondition(path, (market) => clobActivity(world, market, context.now()));
  }
  app.get<{ Params: { token: string } }>("/markets-by-token/:token", async ({ params }, reply) => {
    const found = listing.marketByToken(params.token);
    if (found === null) return reply.code(404).send({ error: "market not found" });
    const [primary, secondary] = polymarketTokenIds(found.market);
    return {
      condition_id: polymarketConditionId(found.market),
      primary_token_id: primary,
      secondary_token_id: secondary,
    };
  });
}

function installRewards(app: FastifyInstance, context: ExchangeContext, listing: Listing): void {
  const rewardOf = (market: ListedMarket) => rewardObject(marketState(context.world, market, context.now()));
  app.get<{ Querystring: Query }>("/rewards/markets/current", async ({ query }) => {
    const now = context.now();
    const rewarded = listing.markets().filter((market) => rewardsOf(market) !== null && !isMarketClosed(market, now));
    const { items, envelope } = pageOf(rewarded, query, SAMPLING_PAGE_MAX);
    return { data: items.map(rewardOf), ...envelope };
  });
  app.get<{ Params: { conditionId: string } }>("/rewards/markets/:conditionId", async ({ params }) => {
    const market = listing.marketByCondition(params.conditionId);
    const reward = market === null ? null : rewardOf(market);
    const data = reward === null ? [] : [reward];
    return { data, limit: SAMPLING_PAGE_MAX, count: data.length, next_cursor: END_CURSOR };
  });
}
