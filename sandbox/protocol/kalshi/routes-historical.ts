import type { ListedMarket } from "../../world/types.ts";
import { kalshiEventTicker, kalshiSeriesTicker } from "./ids.ts";
import { iso, marketJson } from "./market-json.ts";
import { pageOf } from "./paging.ts";
import { notFound } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";

const MARKETS_MAX = 1_000;
const TICKERS_MAX = 1_000;

/** Markets settled before the cutoff. Historical trades and candles are served by `routes-trades` and `routes-candles`. */
export function installHistorical(get: Get, { context, catalogue }: RestOptions): void {
  const { world, now } = context;

  const historicalMarket = (ticker: string): ListedMarket => {
    const market = catalogue.market(ticker);
    if (market === null || !catalogue.isHistorical(market)) throw notFound();
    return market;
  };

  get("/historical/cutoff", () => {
    const cutoff = iso(catalogue.cutoff());
    return {
      market_settled_ts: cutoff,
      trades_created_ts: cutoff,
      orders_updated_ts: cutoff,
      market_positions_last_updated_ts: cutoff,
    };
  });

  get("/historical/markets", ({ query }) => {
    const limit = query.limit(100, MARKETS_MAX);
    const tickers = query.list("tickers", TICKERS_MAX);
    const eventTicker = query.text("event_ticker");
    const seriesTicker = query.text("series_ticker");
    // Multivariate events are not simulated, so "only" matches nothing.
    const isMveOnly = query.choice("mve_filter", ["only", "exclude"]) === "only";
    const { page, cursor } = pageOf(
      tickers === null ? catalogue.markets() : catalogue.marketsByTicker(tickers),
      query.text("cursor"),
      limit,
      (market) =>
        !isMveOnly &&
        catalogue.isHistorical(market) &&
        (eventTicker === null || kalshiEventTicker(market.event) === eventTicker) &&
        (seriesTicker === null || kalshiSeriesTicker(market.event) === seriesTicker),
    );
    return { markets: page.map((market) => marketJson(world, market, now())), cursor };
  });

  get("/historical/markets/:ticker", ({ path }) => ({
    market: marketJson(world, historicalMarket(path("ticker")), now()),
  }));
}
