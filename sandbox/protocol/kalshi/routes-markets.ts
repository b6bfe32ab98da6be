import type { ListedMarket, Phase } from "../../world/types.ts";
import { kalshiTicker } from "./ids.ts";
import { iso, marketJson, orderbookJson } from "./market-json.ts";
import { pageOf } from "./paging.ts";
import { badRequest, KalshiError } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";

const MARKETS_MAX = 1_000;
const TICKERS_MAX = 1_000;
const BOOKS_MAX = 100;

/** The status filter uses different values than the status field. */
const STATUS_FILTER = {
  unopened: ["pending"],
  open: ["active"],
  paused: ["paused"],
  closed: ["closed", "determined", "disputed"],
  settled: ["finalized"],
} as const satisfies Record<string, readonly Phase[]>;
const STATUS_FILTER_VALUES = Object.keys(STATUS_FILTER) as (keyof typeof STATUS_FILTER)[];

/** Markets of the live tier and of the historical tier, and books of the live tier. */
export function installMarkets(get: Get, { context, catalogue, orderbookNeedsKey }: RestOptions): void {
  const { world, now } = context;
  const present = (market: ListedMarket) => marketJson(world, market, now());
  const bookOf = (market: ListedMarket) => orderbookJson(world.book(market, now()));
  const requireKey = (hasKey: boolean) => {
    if (orderbookNeedsKey && !hasKey) throw new KalshiError(401, "authentication_error", "missing API key");
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

  for (const tier of ["live", "historical"] as const) {
    const path = tier === "live" ? "/markets" : "/historical/markets";
    get(path, ({ query }) => {
      const status = query.choice("status", STATUS_FILTER_VALUES);
      const phases: readonly Phase[] | null = status === null ? null : STATUS_FILTER[status];
      // Multivariate events are not simulated, so "only" matches nothing.
      const isMultivariateOnly = query.choice("mve_filter", ["only", "exclude"]) === "only";
      const tickers = query.list("tickers", TICKERS_MAX);
      const { page, cursor } = pageOf(
        tickers === null ? catalogue.markets() : catalogue.marketsByTicker(tickers),
        query.text("cursor"),
        query.limit(100, MARKETS_MAX),
        (market) =>
          !isMultivariateOnly &&
          catalogue.tierOf(market) === tier &&
          (phases === null || phases.includes(world.lifecycle(market, now()).phase)),
      );
      return { markets: page.map(present), cursor };
    });
    get(`${path}/:ticker`, ({ path }) => ({ market: present(catalogue.marketInTier(path("ticker"), tier)) }));
  }

  get("/markets/orderbooks", ({ query, hasKey }) => {
    requireKey(hasKey);
    const tickers = query.list("tickers", BOOKS_MAX);
    if (tickers === null) throw badRequest("invalid parameters: tickers is required");
    return {
      orderbooks: catalogue
        .marketsByTicker(tickers)
        .map((market) => ({ ticker: kalshiTicker(market), orderbook_fp: bookOf(market) })),
    };
  });

  get("/markets/:ticker/orderbook", ({ path, hasKey }) => {
    requireKey(hasKey);
    return { orderbook_fp: bookOf(catalogue.marketInTier(path("ticker"), "live")) };
  });
}
