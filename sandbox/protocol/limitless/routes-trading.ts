import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ListedMarket } from "../../world/types.ts";
import { VenueError } from "../errors.ts";
import type { ExchangeContext } from "../exchange.ts";
import { presentBook } from "./book-json.ts";
import type { Catalogue } from "./catalogue.ts";
import { HISTORY_WINDOWS, presentHistory } from "./history-json.ts";
import { publishedBook } from "./published-book.ts";
import { queryEnum, queryInteger, queryText } from "./requests.ts";
import { createTradeReader, presentFeedEvent, presentTrade } from "./trades.ts";

const TRADES_MAX = 100;
const TRADES_DEFAULT = 30;
const FEED_EVENTS_DEFAULT = 10;
const PAGE_MAX = 1_000;

export function installTradingRoutes(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  const { now } = context;
  const tradeReader = createTradeReader(context);

  const marketOf = (slug: string): ListedMarket => {
    const entry = catalogue.get(slug);
    if (entry.kind === "group") throw new VenueError(400, "Group markets are not traded, use their child markets");
    return entry.market;
  };
  const orderBookMarketOf = (slug: string): ListedMarket => {
    const market = marketOf(slug);
    if (market.mechanism === "amm") throw new VenueError(400, "Market does not support orderbook");
    return market;
  };
  const parsePage = (request: FastifyRequest, defaultLimit: number) => {
    const page = queryInteger(request, "page", { fallback: 1, min: 1, max: PAGE_MAX });
    const limit = queryInteger(request, "limit", { fallback: defaultLimit, min: 1, max: TRADES_MAX });
    return { page, limit, offset: (page - 1) * limit };
  };

  app.get<{ Params: { slug: string } }>("/markets/:slug/orderbook", async (request) => {
    const market = orderBookMarketOf(request.params.slug);
    const book = publishedBook(context, market, now());
    return { ...presentBook(market, book), lastTradePrice: book.lastPrice };
  });

  app.get<{ Params: { slug: string } }>("/markets/:slug/events", async (request) => {
    const at = now();
    const market = orderBookMarketOf(request.params.slug);
    const { page, limit, offset } = parsePage(request, TRADES_DEFAULT);
    const totalRows = tradeReader.count(market, at);
    return {
      events: tradeReader.readPage(market, at, offset, limit).map((trade) => presentTrade(market, trade)),
      page,
      limit,
      totalPages: Math.ceil(totalRows / limit),
      totalRows,
    };
  });

  app.get<{ Params: { slug: string } }>("/markets/:slug/get-feed-events", async (request) => {
    const market = marketOf(request.params.slug);
    const { limit, offset } = parsePage(request, FEED_EVENTS_DEFAULT);
    return tradeReader.readPage(market, now(), offset, limit).map(presentFeedEvent);
  });

  app.get<{ Params: { slug: string } }>("/markets/:slug/historical-price", async (request) => {
    const entry = catalogue.get(request.params.slug);
    const window = queryEnum(request, "interval", HISTORY_WINDOWS) ?? "all";
    return presentHistory(context, entry, { window, from: queryDate(request, "from"), to: queryDate(request, "to") });
  });
}

/** Returns an ISO 8601 query parameter as Unix milliseconds, or null if the parameter is absent. */
function queryDate(request: FastifyRequest, name: string): number | null {
  const text = queryText(request, name);
  if (text === null) return null;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new VenueError(400, `${name} must be a valid ISO 8601 date string`);
  return at;
}
