import { toIso } from "../../../src/lib/dates/iso-time.ts";
import type { ListedMarket } from "../../world/types.ts";
import { kalshiEventTicker, kalshiSeriesTicker } from "./ids.ts";
import { presentMarket } from "./market-json.ts";
import { selectPage } from "./paging.ts";
import { createNotFoundError } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";

const MARKETS_MAX = 1_000;
const TICKERS_MAX = 1_000;

/** Installs the routes of markets settled before the cutoff. Their trades and candles have separate routes. */
export function installHistorical(get: Get, { context, catalogue }: RestOptions): void {
  const { world, now } = context;

  const findHistoricalMarket = (ticker: string): ListedMarket => {
    const market = catalogue.findMarket(ticker);
    if (market === null || !catalogue.isHistorical(market)) throw createNotFoundError();
    return market;
  };

  get("/historical/cutoff", () => {
    const cutoff = toIso(catalogue.computeCutoff());
    return {
      market_settled_ts: cutoff,
      trades_created_ts: cutoff,
      orders_updated_ts: cutoff,
      market_positions_last_updated_ts: cutoff,
    };
  });

  get("/historical/markets", ({ query }) => {
    const limit = query.readLimit(100, MARKETS_MAX);
    const tickers = query.readList("tickers", TICKERS_MAX);
    const eventTicker = query.readText("event_ticker");
    const seriesTicker = query.readText("series_ticker");
    // Multivariate events are not simulated, so "only" matches no market.
    const isMveOnly = query.readChoice("mve_filter", ["only", "exclude"]) === "only";
    const { page, cursor } = selectPage(
      tickers === null ? catalogue.listMarkets() : catalogue.findMarkets(tickers),
      query.readText("cursor"),
      limit,
      (market) =>
        !isMveOnly &&
        catalogue.isHistorical(market) &&
        (eventTicker === null || kalshiEventTicker(market.event) === eventTicker) &&
        (seriesTicker === null || kalshiSeriesTicker(market.event) === seriesTicker),
    );
    return { markets: page.map((market) => presentMarket(world, market, now())), cursor };
  });

  get("/historical/markets/:ticker", ({ path }) => ({
    market: presentMarket(world, findHistoricalMarket(path("ticker")), now()),
  }));
}
