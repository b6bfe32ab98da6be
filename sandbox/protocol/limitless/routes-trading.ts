import type { FastifyInstance } from "fastify";
import type { ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { presentBook } from "./book-json.ts";
import type { Catalogue } from "./catalogue.ts";
import { presentHistory } from "./history-json.ts";
import { queryInteger, queryText, queryWord, VenueHttpError } from "./http-errors.ts";
import { Tape } from "./tape.ts";
import { presentFeedEvent, presentTapeEvent } from "./tape-json.ts";

const TAPE_ROWS_MAX = 100;
const TAPE_ROWS = 30;
const FEED_ROWS = 10;
/** Deeper pages are empty: nobody reads that far back a page at a time. */
const PAGE_MAX = 1_000;

/** Books, tapes and price history of single markets. */
export function installTradingRoutes(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  const { now, world } = context;
  const tape = new Tape(context);

  const marketOf = (slug: string): ListedMarket => {
    const listed = catalogue.find(slug);
    if (listed === null) throw new VenueHttpError(404, `Market ${slug} not found`);
    if (listed.kind === "group") throw new VenueHttpError(400, "Group markets are not traded, use their child markets");
    return listed.market;
  };

  app.get<{ Params: { slug: string } }>("/markets/:slug/orderbook", async (request) => {
    const market = marketOf(request.params.slug);
    if (market.mechanism === "amm") throw new VenueHttpError(400, "Market does not support orderbook");
    return presentBook(market, world.book(market, now()));
  });

  app.get<{ Params: { slug: string } }>("/markets/:slug/events", async (request) => {
    const at = now();
    const market = marketOf(request.params.slug);
    if (market.mechanism === "amm") throw new VenueHttpError(400, "Market does not support orderbook");
    const page = queryInteger(request, "page", { fallback: 1, min: 1, max: PAGE_MAX });
    const limit = queryInteger(request, "limit", { fallback: TAPE_ROWS, min: 1, max: TAPE_ROWS_MAX });
    const trades = tape.page(market, at, (page - 1) * limit, limit);
    const totalRows = tape.count(market, at);
    return {
      events: trades.map((trade) => presentTapeEvent(market, trade)),
      page,
      limit,
      totalPages: Math.ceil(totalRows / limit),
      totalRows,
    };
  });

  app.get<{ Params: { slug: string } }>("/markets/:slug/get-feed-events", async (request) => {
    const market = marketOf(request.params.slug);
    const page = queryInteger(request, "page", { fallback: 1, min: 1, max: PAGE_MAX });
    const limit = queryInteger(request, "limit", { fallback: FEED_ROWS, min: 1, max: TAPE_ROWS_MAX });
    return tape.page(market, now(), (page - 1) * limit, limit).map((trade) => presentFeedEvent(market, trade));
  });

  app.get<{ Params: { slug: string } }>("/markets/:slug/historical-price", async (request) => {
    const listed = catalogue.find(request.params.slug);
    if (listed === null) throw new VenueHttpError(404, `Market ${request.params.slug} not found`);
    const interval = queryWord(request, "interval", ["1h", "6h", "1d", "1w", "1m", "all"]) ?? "all";
    return presentHistory(context, listed, {
      interval,
      from: dateParameter(queryText(request, "from"), "from"),
      to: dateParameter(queryText(request, "to"), "to"),
    });
  });

  // The world simulates no price of underlying assets, so there is nothing true to show here.
  app.get<{ Params: { slug: string } }>("/markets/:slug/oracle-candles", async (request) => {
    marketOf(request.params.slug);
    return [];
  });
}

function dateParameter(text: string | null, name: string): number | null {
  if (text === null) return null;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new VenueHttpError(400, `${name} must be a valid ISO 8601 date string`);
  return at;
}
